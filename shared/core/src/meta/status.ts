import { type LevelText, textAt } from './level-text.ts'
import type { FailureCode, ReasonOf, StatusReason } from './status-table.ts'

export type { StatusReason }

/** One of the things that were wrong, with the field where there is one. */
export interface StatusCause {
  readonly reason?: string
  readonly message?: string
  readonly field?: string
}

/** The subject of a failure, for programs. */
export interface StatusDetails {
  readonly name?: string
  readonly group?: string
  readonly kind?: string
  readonly uid?: string
  readonly causes?: readonly StatusCause[]
  readonly retryAfterSeconds?: number
}

/** The object of kind Status that answers every failure, and some successes. */
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

/** Ends the request from anywhere: one place turns it into the response. The `cause` stays in the log. */
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

/** A failure of something outside of the server, such as a webhook or a node: it is no fault of the server's own. */
export class OutsideError extends StatusError {
  /** The part that failed, such as one webhook: its failures share a line of the log a minute. Absent: each failure has a line. */
  readonly source: string | undefined

  constructor(status: Status, source?: string) {
    super(status)
    this.source = source
  }
}

/** The name of a resource in messages: `pods`, `widgets.example.com`. */
export interface ResourceName {
  readonly group: string
  readonly resource: string
}

/** The name of a kind in messages: `Pod`, `Widget.example.com`. */
export interface KindName {
  readonly group: string
  readonly kind: string
}

/** The reason of a refused field in `details.causes[].reason`. */
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

/** One bad field. `message` is the text without the path, e.g. `Invalid value: 7: must be …`. */
export interface FieldError {
  readonly reason: FieldErrorReason
  readonly field: string
  readonly message: LevelText
}

/** One bad field whose message is the same at all levels. */
export interface PlainFieldError extends FieldError {
  readonly message: string
}

/** The path and the message of a bad field, as a level writes it. */
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

/** The parts of a failure besides its message. */
interface FailureOptions {
  readonly details?: StatusDetails | undefined
  readonly cause?: unknown
}

/** A failure with one of the codes of status-table.ts, a reason that belongs to it, and a message and details of the caller's choice. */
export function failed<C extends FailureCode>(code: C, reason: ReasonOf<C>, message: string, options?: FailureOptions): StatusError {
  return relayed(code, reason, message, options)
}

/** A failure with the code and reason of another server. */
export function relayed(
  code: number,
  reason: StatusReason | '',
  message: string,
  { details, ...options }: FailureOptions = {},
): StatusError {
  return new StatusError(failure(code, reason, message, details), options)
}

/** 400: the request is malformed in any state. */
export function badRequest(message: string, options?: { cause?: unknown }): StatusError {
  return failed(400, 'BadRequest', message, options)
}

/** 401: the request is not authenticated. */
export function unauthorized(): StatusError {
  return failed(401, 'Unauthorized', 'Unauthorized')
}

/** `why` follows `is forbidden: `. */
export function forbidden(resource: ResourceName, name: string, why: string, causes?: readonly StatusCause[]): StatusError {
  const what =
    name === ''
      ? `${dotted(resource.resource, resource.group)} is forbidden`
      : `${dotted(resource.resource, resource.group)} "${name}" is forbidden`
  const details = { ...resourceDetails(resource, name), ...(causes === undefined ? {} : { causes }) }
  return failed(403, 'Forbidden', `${what}: ${why}`, { details })
}

/** 404: there is no object of that name. */
export function notFound(resource: ResourceName, name: string): StatusError {
  return failed(404, 'NotFound', `${dotted(resource.resource, resource.group)} "${name}" not found`, {
    details: resourceDetails(resource, name),
  })
}

/** 405: the resource has no such verb. */
export function methodNotAllowed(): StatusError {
  return failed(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', { details: {} })
}

/** 405: a part of a custom resource has no such verb (apiextensions-apiserver, customresource_handler.go). */
export function methodNotSupported(resource: ResourceName, verb: string): StatusError {
  const message = `${verb} is not supported on resources of kind ${JSON.stringify(dotted(resource.resource, resource.group))}`
  return failed(405, 'MethodNotAllowed', message, { details: resourceDetails(resource, '') })
}

/** 406: none of the forms that the client takes is ours. */
export function notAcceptable(accepted: readonly string[]): StatusError {
  return failed(406, 'NotAcceptable', `only the following media types are accepted: ${accepted.join(', ')}`)
}

/** 406: the path is answered in no media type of the request, with any parameters. */
export function noRepresentation(available: readonly string[]): StatusError {
  return failed(406, 'NotAcceptable', `406: Not Acceptable\n\nAvailable representations: ${available.join(', ')}`, { details: {} })
}

/** 409: a create, and the name is taken. */
export function alreadyExists(resource: ResourceName, name: string): StatusError {
  return failed(409, 'AlreadyExists', `${dotted(resource.resource, resource.group)} "${name}" already exists`, {
    details: resourceDetails(resource, name),
  })
}

/** Without `why` it is the lost race: someone else wrote the object first. */
export function conflict(
  resource: ResourceName,
  name: string,
  why = 'the object has been modified; please apply your changes to the latest version and try again',
): StatusError {
  const what = `Operation cannot be fulfilled on ${dotted(resource.resource, resource.group)} "${name}"`
  return failed(409, 'Conflict', `${what}: ${why}`, { details: resourceDetails(resource, name) })
}

/** 410: the version that was asked for has been compacted. */
export function expired(message: string, metadata: Status['metadata'] = {}): StatusError {
  return new StatusError({ ...failure(410, 'Expired', message), metadata })
}

/** 413: the body is over a limit. */
export function requestEntityTooLarge(message: string): StatusError {
  return failed(413, 'RequestEntityTooLarge', message)
}

/** 415: the body's form is not one of those accepted here. */
export function unsupportedMediaType(accepted: readonly string[]): StatusError {
  const list = accepted.join(', ')
  return failed(415, 'UnsupportedMediaType', `the body of the request was in an unknown format - accepted media types include: ${list}`)
}

/** 415: no form of a patch has the media type of the body. */
export function unknownPatchType(): StatusError {
  return failed(415, 'UnsupportedMediaType', '415: Unsupported Media Type', { details: {} })
}

/** All bad fields of one object, each error once. The details carry the kind, not the resource; of an access review none, as in kube-apiserver. */
export function invalid(kind: KindName, name: string, errors: readonly PlainFieldError[]): StatusError
/** The same, in the words of a level. */
export function invalid(kind: KindName, name: string, errors: readonly FieldError[], level: number): StatusError
export function invalid(kind: KindName, name: string, errors: readonly FieldError[], level = 0): StatusError {
  const byText = new Map(errors.map((error) => [printFieldError(error, level), error]))
  const texts = [...byText.keys()]
  const list = texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`
  const details: StatusDetails = {
    ...(name === '' ? {} : { name }),
    ...(kind.group === '' ? {} : { group: kind.group }),
    ...(kind.kind === '' ? {} : { kind: kind.kind }),
    causes: [...byText.values()].map(({ reason, message, field }) => ({ reason, message: textAt(message, level), field })),
  }
  return failed(422, 'Invalid', `${dotted(kind.kind, kind.group)} "${name}" is invalid: ${list}`, { details })
}

/** The client reads `message`; the log keeps the cause. */
export function internal(message: string, options?: { cause?: unknown }): StatusError {
  return failed(500, 'InternalError', `Internal error occurred: ${message}`, { details: { causes: [{ message }] }, ...options })
}

/** 500: the stored object cannot be read; the client reads the reason. Texts are kube-apiserver's where it has them. */
export function corruptObject(problem: string): StatusError {
  return internal(`StorageError: corrupt object: ${problem}`)
}

/** Causes that one failure names. */
const unreadableNamedMax = 100

/** 500: some objects of a list cannot be read. `problems` says why, by key. */
export function storageReadError(resource: ResourceName, problems: readonly (readonly [key: string, problem: string])[]): StatusError {
  const causes = problems.slice(0, unreadableNamedMax).map(([field, message]) => ({ reason: 'UnexpectedServerResponse', message, field }))
  const group = resource.group === '' ? {} : { group: resource.group }
  const text = `failed to read one or more ${dotted(resource.resource, resource.group)} from the storage: ${problems[0]?.[1] ?? ''}`
  return failed(500, 'StorageReadError', text, { details: { ...group, kind: resource.resource, causes } })
}

/** 503: try again, there or later. */
export function serviceUnavailable(message: string, options?: { cause?: unknown; retryAfterSeconds?: number }): StatusError {
  const details = options?.retryAfterSeconds === undefined ? undefined : { retryAfterSeconds: options.retryAfterSeconds }
  return failed(503, 'ServiceUnavailable', message, { details, ...options })
}

/** 429: memory is being filled; text and pause are those of kube-apiserver. */
export function initializing(options?: { cause?: unknown }): StatusError {
  return failed(429, 'TooManyRequests', 'storage is (re)initializing', { details: { retryAfterSeconds: 1 }, ...options })
}

/** 504: the deadline passed first; the request may have had its effect. */
export function timeout(message: string, options?: { cause?: unknown }): StatusError {
  return failed(504, 'Timeout', `Timeout: ${message}`, options)
}

/** The asked revision is in the future. `asked` is the client's own text. */
export function tooLargeResourceVersion(asked: string, current: number): StatusError {
  return failed(504, 'Timeout', `Timeout: Too large resource version: ${asked}, current: ${current}`, {
    details: {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      retryAfterSeconds: 1,
    },
  })
}
