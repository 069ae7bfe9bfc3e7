import { goQuote, shown } from '../json/go-quote.ts'
import { type LevelText, textAt } from './level-text.ts'
import type { FailureCode, ReasonOf, StatusReason } from './status-table.ts'

export type { StatusReason }

/** A cause of a failure, with the field if there is one. */
export interface StatusCause {
  readonly reason?: string
  readonly message?: string
  readonly field?: string
}

/** Machine-readable details of a failure. */
export interface StatusDetails {
  readonly name?: string
  readonly group?: string
  readonly kind?: string
  readonly uid?: string
  readonly causes?: readonly StatusCause[]
  readonly retryAfterSeconds?: number
}

/** The object of kind Status, which is the answer of every failure and of some successes. */
export interface Status {
  readonly kind: 'Status'
  readonly apiVersion: 'v1'
  readonly metadata: { readonly continue?: string; readonly remainingItemCount?: number; readonly resourceVersion?: string }
  readonly status: 'Success' | 'Failure'
  readonly message?: string
  readonly reason?: StatusReason | string
  readonly details?: StatusDetails
  readonly code: number
}

/** Ends a request with a failure. The server turns the error into the response, and only logs the `cause`. */
export class StatusError extends Error {
  readonly status: Status

  constructor(status: Status, options?: { cause?: unknown }) {
    super(status.message ?? status.reason ?? `code ${status.code}`, options)
    this.name = 'StatusError'
    this.status = status
  }

  get reason(): string {
    return this.status.reason ?? ''
  }

  get code(): number {
    return this.status.code
  }
}

/** A failure outside of the server, such as of a webhook or a node, which is not a fault of the server. */
export class OutsideError extends StatusError {
  /** The part that failed, such as a webhook: its failures share one log line per minute. Default: one line per failure. */
  readonly source: string | undefined

  constructor(status: Status, source?: string) {
    super(status)
    this.source = source
  }
}

/** A resource for messages: `pods`, `widgets.example.com`. */
export interface ResourceName {
  readonly group: string
  readonly resource: string
}

/** A kind for messages: `Pod`, `Widget.example.com`. */
export interface KindName {
  readonly group: string
  readonly kind: string
}

/** The reason of an invalid field in `details.causes[].reason`. */
type FieldErrorReason =
  | 'FieldValueRequired'
  | 'FieldValueInvalid'
  | 'FieldValueNotSupported'
  | 'FieldValueDuplicate'
  | 'FieldValueForbidden'
  | 'FieldValueNotFound'
  | 'FieldValueTooLong'
  | 'FieldValueTooMany'
  | 'FieldValueTypeInvalid'
  | 'InternalError'

/** An invalid field. `message` is the text without the path, such as `Invalid value: 7: must be …`. */
export interface FieldError {
  readonly reason: FieldErrorReason
  readonly field: string
  readonly message: LevelText
}

/** An invalid field whose message is the same at all levels. */
export interface PlainFieldError extends FieldError {
  readonly message: string
}

/** The path and the message of an invalid field at a level. */
export function printFieldError({ field, message }: FieldError, level: number): string {
  return `${field}: ${textAt(message, level)}`
}

const failure = (code: number, reason: StatusReason | '', message: string, details?: StatusDetails): Status => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  message,
  ...(reason === '' ? {} : { reason }),
  ...(details === undefined ? {} : { details }),
  code,
})

const dotted = (word: string, group: string): string => (group === '' ? word : `${word}.${group}`)

const resourceDetails = ({ group, resource }: ResourceName, name: string): StatusDetails => ({
  ...(name === '' ? {} : { name }),
  ...(group === '' ? {} : { group }),
  kind: resource,
})

interface FailureOptions {
  readonly details?: StatusDetails | undefined
  readonly cause?: unknown
}

/** A failure with a code and a reason of status-table.ts, and any message and details. */
export function failed<C extends FailureCode>(code: C, reason: ReasonOf<C>, message: string, options?: FailureOptions): StatusError {
  return relayed(code, reason, message, options)
}

/** Passes on the failure of another server. */
export function relayed(
  code: number,
  reason: StatusReason | '',
  message: string,
  { details, ...options }: FailureOptions = {},
): StatusError {
  return new StatusError(failure(code, reason, message, details), options)
}

const messagesByCode: Readonly<Record<number, readonly [reason: StatusReason, message: string]>> = {
  400: ['BadRequest', 'the server rejected our request for an unknown reason'],
  401: ['Unauthorized', 'the server has asked for the client to provide credentials'],
  404: ['NotFound', 'the server could not find the requested resource'],
  405: ['MethodNotAllowed', 'the server does not allow this method on the requested resource'],
  409: ['Conflict', 'the server reported a conflict'],
  422: ['Invalid', 'the server rejected our request due to an error in our request'],
  429: ['TooManyRequests', 'the server has received too many requests and has asked us to try again later'],
  503: ['ServiceUnavailable', 'the server is currently unable to handle the request'],
  504: ['Timeout', 'the server was unable to return a response in the time allotted, but may still be processing the request'],
}

/** Reason and message of an answer of another server that is no Status, as client-go derives them from the code and the text. */
export function refusalByCode(code: number, text: string): readonly [reason: StatusReason | '', message: string] {
  const known = messagesByCode[code]
  if (known !== undefined) return known
  if (code === 403) return ['Forbidden', text]
  if (code === 406) return ['NotAcceptable', text || 'the server was unable to respond with a content type that the client supports']
  if (code === 415) return ['UnsupportedMediaType', text]
  if (code >= 500) return ['InternalError', `an error on the server (${JSON.stringify(text)}) has prevented the request from succeeding`]
  return ['', `the server responded with the status code ${code} but did not return more information`]
}

/** 400: the request is malformed. */
export function badRequest(message: string, options?: { cause?: unknown }): StatusError {
  return failed(400, 'BadRequest', message, options)
}

/** 401: the request is not authenticated. */
export function unauthorized(): StatusError {
  return failed(401, 'Unauthorized', 'Unauthorized')
}

/** 403. `why` follows `is forbidden: `. */
export function forbidden(resource: ResourceName, name: string, why: string, causes?: readonly StatusCause[]): StatusError {
  const what =
    name === ''
      ? `${dotted(resource.resource, resource.group)} is forbidden`
      : `${dotted(resource.resource, resource.group)} ${goQuote(name)} is forbidden`
  const details = { ...resourceDetails(resource, name), ...(causes === undefined ? {} : { causes }) }
  return failed(403, 'Forbidden', `${what}: ${why}`, { details })
}

/** 404: the object does not exist. */
export function notFound(resource: ResourceName, name: string): StatusError {
  return failed(404, 'NotFound', `${dotted(resource.resource, resource.group)} ${goQuote(name)} not found`, {
    details: resourceDetails(resource, name),
  })
}

/** 405: the resource does not support the verb. */
export function methodNotAllowed(): StatusError {
  return failed(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', { details: {} })
}

/** 405: a part of a custom resource does not support the verb (apiextensions-apiserver, customresource_handler.go). */
export function methodNotSupported(resource: ResourceName, verb: string): StatusError {
  const message = `${verb} is not supported on resources of kind ${JSON.stringify(dotted(resource.resource, resource.group))}`
  return failed(405, 'MethodNotAllowed', message, { details: resourceDetails(resource, '') })
}

/** 406: none of the accepted media types is supported. */
export function notAcceptable(accepted: readonly string[]): StatusError {
  return failed(406, 'NotAcceptable', `only the following media types are accepted: ${accepted.join(', ')}`)
}

/** 406: the path has no representation that the request accepts; parameters are ignored. */
export function noRepresentation(available: readonly string[]): StatusError {
  return failed(406, 'NotAcceptable', `406: Not Acceptable\n\nAvailable representations: ${available.join(', ')}`, { details: {} })
}

/** 409: the name of a create is taken. */
export function alreadyExists(resource: ResourceName, name: string): StatusError {
  return failed(409, 'AlreadyExists', `${dotted(resource.resource, resource.group)} ${goQuote(name)} already exists`, {
    details: resourceDetails(resource, name),
  })
}

/** 409. Without `why`, another client wrote the object first. */
export function conflict(
  resource: ResourceName,
  name: string,
  why = 'the object has been modified; please apply your changes to the latest version and try again',
): StatusError {
  const what = `Operation cannot be fulfilled on ${dotted(resource.resource, resource.group)} ${goQuote(name)}`
  return failed(409, 'Conflict', `${what}: ${why}`, { details: resourceDetails(resource, name) })
}

/** 410: the requested version was compacted. */
export function expired(message: string, metadata: Status['metadata'] = {}): StatusError {
  return new StatusError({ ...failure(410, 'Expired', message), metadata })
}

/** 413: the body exceeds a limit. */
export function requestEntityTooLarge(message: string): StatusError {
  return failed(413, 'RequestEntityTooLarge', message)
}

/** 415: the body's media type is not supported. */
export function unsupportedMediaType(accepted: readonly string[]): StatusError {
  const list = accepted.join(', ')
  return failed(415, 'UnsupportedMediaType', `the body of the request was in an unknown format - accepted media types include: ${list}`)
}

/** 415: the body's media type is not one of a patch. */
export function unknownPatchType(): StatusError {
  return failed(415, 'UnsupportedMediaType', '415: Unsupported Media Type', { details: {} })
}

/** After this number of characters, further fields of a refusal are not listed. */
export const listedTextMax = 1_000_000
/** Characters of the end of a long message that are listed: they have its reason, after the value. */
const reasonMax = 1_024

/** 422: all invalid fields of one object, without duplicates. The details contain the kind and not the resource; for an access review they are empty, as in kube-apiserver. */
export function invalid(kind: KindName, name: string, errors: readonly PlainFieldError[]): StatusError
/** The same, in the words of a level. */
export function invalid(kind: KindName, name: string, errors: readonly FieldError[], level: number): StatusError
export function invalid(kind: KindName, name: string, errors: readonly FieldError[], level = 0): StatusError {
  const byText = new Map<string, StatusCause>()
  let length = 0
  for (const error of errors) {
    if (length > listedTextMax) break
    const [field, message] = [shown(error.field), shown(textAt(error.message, level), reasonMax)]
    length += field.length + message.length
    byText.set(`${field}: ${message}`, { reason: error.reason, message, field })
  }
  const texts = [...byText.keys()]
  const list = texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`
  const details: StatusDetails = {
    ...(name === '' ? {} : { name }),
    ...(kind.group === '' ? {} : { group: kind.group }),
    ...(kind.kind === '' ? {} : { kind: kind.kind }),
    causes: [...byText.values()],
  }
  return failed(422, 'Invalid', `${dotted(kind.kind, kind.group)} ${goQuote(name)} is invalid: ${list}`, { details })
}

/** 500. The client sees `message`; the cause is only logged. */
export function internal(message: string, options?: { cause?: unknown }): StatusError {
  return failed(500, 'InternalError', `Internal error occurred: ${message}`, { details: { causes: [{ message }] }, ...options })
}

/** 500: the stored object cannot be read. The client sees the reason, in kube-apiserver's words where it has them. */
export function corruptObject(problem: string): StatusError {
  return internal(`StorageError: corrupt object: ${problem}`)
}

/** Maximum number of causes in one failure. */
const unreadableNamedMax = 100

/** 500: some objects of a list cannot be read. `problems` has the reasons by key. */
export function storageReadError(resource: ResourceName, problems: readonly (readonly [key: string, problem: string])[]): StatusError {
  const causes = problems.slice(0, unreadableNamedMax).map(([field, message]) => ({ reason: 'UnexpectedServerResponse', message, field }))
  const group = resource.group === '' ? {} : { group: resource.group }
  const text = `failed to read one or more ${dotted(resource.resource, resource.group)} from the storage: ${problems[0]?.[1] ?? ''}`
  return failed(500, 'StorageReadError', text, { details: { ...group, kind: resource.resource, causes } })
}

/** 503: the client should try again later. */
export function serviceUnavailable(message: string, options?: { cause?: unknown; retryAfterSeconds?: number }): StatusError {
  const details = options?.retryAfterSeconds === undefined ? undefined : { retryAfterSeconds: options.retryAfterSeconds }
  return failed(503, 'ServiceUnavailable', message, { details, ...options })
}

/** 429: memory is being filled. The text and the delay are kube-apiserver's. */
export function initializing(options?: { cause?: unknown }): StatusError {
  return failed(429, 'TooManyRequests', 'storage is (re)initializing', { details: { retryAfterSeconds: 1 }, ...options })
}

/** 504: the time is over; the request may have taken effect. */
export function timeout(message: string, options?: { cause?: unknown }): StatusError {
  return failed(504, 'Timeout', `Timeout: ${message}`, options)
}

/** 504: the requested revision is in the future. `asked` is the client's text. */
export function tooLargeResourceVersion(asked: string, current: number): StatusError {
  return failed(504, 'Timeout', `Timeout: Too large resource version: ${asked}, current: ${current}`, {
    details: {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      retryAfterSeconds: 1,
    },
  })
}
