import { decodeJson, isJsonObject, printBare, printJson, printValue } from '@orch/core/json'
import type { ApiObject, Status } from '@orch/core/meta'
import { domainGroup, type Names } from '@orch/core/names'
import { type JsonPatch, parseJsonPatch } from '@orch/core/patch'
import { requestInputOf, type SeenRequest } from '../matching/request-input.ts'

/** Supported versions of AdmissionReview. */
export type ReviewVersion = 'v1' | 'v1beta1'

/** The first listed version that is supported; undefined for none. */
export function chooseReviewVersion(listed: readonly string[]): ReviewVersion | undefined {
  return listed.find((version) => version === 'v1' || version === 'v1beta1')
}

/** A request to a webhook. */
export interface Question extends SeenRequest {
  readonly version: ReviewVersion
  readonly uid: string
}

/** The body of a call. */
export function printReview(question: Question, names: Names): string {
  const { version, uid, object, oldObject } = question
  const { dryRun, options, ...about } = requestInputOf(question)
  const request = { uid, ...about, object: object ?? null, oldObject: oldObject ?? null, dryRun, options }
  return printJson({ kind: 'AdmissionReview', apiVersion: reviewApiVersion(names, version), request })
}

function reviewApiVersion(names: Names, version: ReviewVersion): string {
  return `${domainGroup(names, 'admission')}/${version}`
}

/** A webhook's response. */
export interface Review {
  readonly isAllowed: boolean
  /** The reason of a refusal, if given. */
  readonly status: Partial<Status> | undefined
  /** The text of a patch; '' for none. Always '' while validating. */
  readonly patch: string
  readonly patchType: string
  readonly warnings: readonly string[]
  readonly auditAnnotations: Readonly<Record<string, string>>
}

export type ReviewReading =
  | { readonly kind: 'review'; readonly review: Review }
  /** The answer is not an AdmissionReview. */
  | { readonly kind: 'unreadable'; readonly message: string }
  /** The answer belongs to another request. */
  | { readonly kind: 'unfit'; readonly message: string }

export interface ReviewExpectation {
  readonly version: ReviewVersion
  readonly uid: string
  readonly isMutating: boolean
}

/** Parses an answer. Only its form is checked; the caller evaluates the decision. */
export function readReview(text: string, expected: ReviewExpectation, names: Names): ReviewReading {
  const decoded = decodeJson(text)
  if (decoded.kind === 'malformed') return { kind: 'unreadable', message: `the answer is not JSON: ${decoded.message}` }
  const { value } = decoded
  if (!isJsonObject(value)) return { kind: 'unreadable', message: 'the answer is not a JSON object; expected an AdmissionReview' }
  const mismatch = checkKind(value, expected, names)
  if (mismatch !== undefined) return { kind: 'unfit', message: mismatch }
  const { response } = value
  if (response === undefined || response === null) return { kind: 'unfit', message: 'webhook response was absent' }
  if (!isJsonObject(response)) return { kind: 'unreadable', message: 'response: expected an object' }
  if (isResponse(response)) return check(response, expected)
  return { kind: 'unreadable', message: findWrongType(response) }
}

function checkKind(value: Record<string, unknown>, { version }: ReviewExpectation, names: Names): string | undefined {
  const { kind = '', apiVersion = '' } = value
  const wanted = reviewApiVersion(names, version)
  if (kind === 'AdmissionReview' && apiVersion === wanted) return undefined
  // Webhooks answered the older version without both members for years.
  if (version === 'v1beta1' && (kind === '' || kind === 'AdmissionReview') && apiVersion === '') return undefined
  return `expected webhook response of ${wanted}, Kind=AdmissionReview, got ${printBare(apiVersion)}, Kind=${printBare(kind)}`
}

interface Response {
  readonly uid?: string
  readonly allowed: boolean
  readonly status?: Partial<Status> | null
  readonly patch?: string | null
  readonly patchType?: string | null
  readonly warnings?: readonly string[] | null
  readonly auditAnnotations?: Readonly<Record<string, string>> | null
}

const isText = (value: unknown): boolean => typeof value === 'string'
const isAbsent = (value: unknown): boolean => value === undefined || value === null

const responseTypes: readonly (readonly [string, string, (value: unknown) => boolean])[] = [
  ['uid', 'a text', (value) => isAbsent(value) || isText(value)],
  ['allowed', 'true or false', (value) => typeof value === 'boolean'],
  ['status', 'a Status', (value) => isAbsent(value) || isStatus(value)],
  ['patch', 'base64', (value) => isAbsent(value) || (typeof value === 'string' && base64Pattern.test(value))],
  ['patchType', 'a text', (value) => isAbsent(value) || isText(value)],
  ['warnings', 'a list of texts', (value) => isAbsent(value) || (Array.isArray(value) && value.every(isText))],
  ['auditAnnotations', 'an object of texts', (value) => isAbsent(value) || (isJsonObject(value) && Object.values(value).every(isText))],
]

const base64Pattern = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

function isStatus(value: unknown): boolean {
  if (!isJsonObject(value)) return false
  const { code, message, reason, details } = value
  return (
    (isAbsent(code) || Number.isInteger(code)) &&
    (isAbsent(message) || isText(message)) &&
    (isAbsent(reason) || isText(reason)) &&
    (isAbsent(details) || isJsonObject(details))
  )
}

function isResponse(response: object): response is Response {
  return findWrongType(response) === ''
}

/** '' if all members have their types. */
function findWrongType(response: object): string {
  const members: Readonly<Record<string, unknown>> = { ...response }
  const wrong = responseTypes.find(([field, , isRight]) => !isRight(members[field]))
  return wrong === undefined ? '' : `response.${wrong[0]}: expected ${wrong[1]}`
}

function check(response: Response, { version, uid, isMutating }: ReviewExpectation): ReviewReading {
  const isStrict = version === 'v1'
  if (isStrict && response.uid !== uid) {
    return { kind: 'unfit', message: `expected response.uid=${JSON.stringify(uid)}, got ${printValue(response.uid ?? '')}` }
  }
  const patch = response.patch ?? ''
  const misfit = isStrict ? (isMutating ? checkPatch(patch, response.patchType) : checkNoPatch(patch, response.patchType)) : undefined
  if (misfit !== undefined) return { kind: 'unfit', message: misfit }
  const isPatched = isMutating && patch !== ''
  const review: Review = {
    isAllowed: response.allowed,
    status: response.status ?? undefined,
    patch: isPatched ? Buffer.from(patch, 'base64').toString() : '',
    patchType: isPatched ? (isStrict ? (response.patchType ?? '') : 'JSONPatch') : '',
    warnings: response.warnings ?? [],
    auditAnnotations: response.auditAnnotations ?? {},
  }
  return { kind: 'review', review }
}

function checkPatch(patch: string, patchType: string | null | undefined): string | undefined {
  if (patch !== '' && isAbsent(patchType)) return 'webhook returned response.patch but not response.patchType'
  if (patch === '' && !isAbsent(patchType)) return 'webhook returned response.patchType but not response.patch'
  return patchType === '' ? 'webhook returned invalid response.patchType of ""' : undefined
}

function checkNoPatch(patch: string, patchType: string | null | undefined): string | undefined {
  if (patch !== '') return 'validating webhook may not return response.patch'
  return isAbsent(patchType) ? undefined : 'validating webhook may not return response.patchType'
}

/** The operations of a patch, or the reason why it is invalid. */
export function readPatch(text: string): { kind: 'patch'; patch: JsonPatch } | { kind: 'refused'; message: string } {
  const decoded = decodeJson(text)
  if (decoded.kind === 'malformed') return { kind: 'refused', message: decoded.message }
  const parsed = parseJsonPatch(decoded.value, 'unchecked')
  return parsed.kind === 'patch' ? parsed : { kind: 'refused', message: parsed.error.message }
}

/** An object in its API form. */
export function isApiObject(value: unknown): value is ApiObject {
  return isJsonObject(value) && typeof value['kind'] === 'string' && typeof value['apiVersion'] === 'string'
}
