import { type ContinueToken, parseContinueToken } from '../meta/continue-token.ts'
import { parseRevision, type Revision } from '../meta/revision.ts'
import { badRequest, invalid, type PlainFieldError, type StatusError } from '../meta/status.ts'
import { domainGroup, type Names } from '../names.ts'
import { readQueryFlag, readQueryInteger } from './query-values.ts'

/** The verb of a read, from path and method. A list with a true `watch` becomes a watch; a get only has a resourceVersion. */
export type ReadVerb = 'get' | 'list' | 'watch' | 'deletecollection'

/** The query's values as sent; absent values are undefined. */
export interface ReadQuery {
  readonly resourceVersion?: string | undefined
  readonly resourceVersionMatch?: string | undefined
  readonly limit?: string | undefined
  readonly continue?: string | undefined
  readonly watch?: string | undefined
  readonly sendInitialEvents?: string | undefined
  readonly allowWatchBookmarks?: string | undefined
}

/** The required freshness of a read. `asked` is the client's text, for messages. */
export type ReadPoint =
  | { readonly kind: 'latest' }
  | { readonly kind: 'any' }
  | { readonly kind: 'notOlderThan'; readonly revision: Revision; readonly asked: string }

/** The meaning of a read. `limit` 0 means no limit. */
export type ResolvedRead =
  | (ReadPoint & { readonly limit: number })
  | { readonly kind: 'exact'; readonly revision: Revision; readonly asked: string; readonly limit: number }
  | { readonly kind: 'continue'; readonly token: ContinueToken; readonly limit: number }
  /** Changes after the revision. */
  | { readonly kind: 'watchFrom'; readonly revision: Revision; readonly asked: string; readonly withBookmarks: boolean }
  /** Changes from now on, without the existing objects. */
  | { readonly kind: 'watchFromNow'; readonly withBookmarks: boolean }
  | WatchWithState
  | { readonly kind: 'refused'; readonly error: StatusError }

/** Existing objects at `state` as ADDED events, then changes. */
interface WatchWithState {
  readonly kind: 'watchWithState'
  readonly state: ReadPoint
  readonly withBookmarks: boolean
  /** True if the client requests the objects by `sendInitialEvents` instead of a list, together with bookmarks. */
  readonly isWatchList: boolean
}

export interface ReadRules {
  readonly names: Names
  /** False if the feature gate `APIListChunking` is off: limit and continue are then ignored. */
  readonly isChunkingOn?: boolean
  /** True if the feature gate `WatchList` is on: a watch of the present state then behaves as with `sendInitialEvents`. */
  readonly isWatchListOn?: boolean
  /** The minor version of the release whose messages are used. */
  readonly level?: number
}

/**
 * The rules of `resourceVersion` for every read verb:
 *
 *   list, no match         unset → latest    0 → any    N → not older than N, with a limit exactly N
 *   list, Exact            unset → 422       0 → 422    N → exactly N
 *   list, NotOlderThan     unset → 422       0 → any    N → not older than N
 *   list, continue         unset → token     0 → token  N → 400
 *   get                    unset → latest    0 → any    N → not older than N
 *   watch                  unset, 0 → the present state, then changes          N → changes after N
 */
export function resolveRead(verb: ReadVerb, asked: ReadQuery, rules: ReadRules): ResolvedRead {
  const knowsInitialEvents = (rules.level ?? initialEventsSince) >= initialEventsSince
  const query = knowsInitialEvents ? asked : { ...asked, sendInitialEvents: undefined }
  if (verb === 'get') return resolvePoint(query.resourceVersion, 0)
  const limit = readQueryInteger(query.limit)
  if (limit.kind === 'refused') return limit
  if (verb === 'watch' || (verb === 'list' && readQueryFlag(query.watch))) return resolveWatch(query, rules)
  const isChunked = rules.isChunkingOn ?? true
  return resolveList(query, isChunked ? Math.max(0, limit.value ?? 0) : 0, isChunked ? (query.continue ?? '') : '', rules)
}

function resolveList(query: ReadQuery, limit: number, token: string, rules: ReadRules): ResolvedRead {
  const errors = listErrors(query, token)
  if (errors.length > 0) return refusedOptions(errors, rules)
  if (token !== '') return resolveContinue(query, token, limit, rules)
  const match = query.resourceVersionMatch ?? ''
  const isExact = match === 'Exact' || (match === '' && limit > 0)
  const point = resolvePoint(query.resourceVersion, limit)
  return point.kind === 'notOlderThan' && isExact ? { ...point, kind: 'exact' } : point
}

function listErrors(query: ReadQuery, token: string): PlainFieldError[] {
  const errors: PlainFieldError[] = []
  if (query.sendInitialEvents !== undefined) errors.push(forbidden('sendInitialEvents', 'sendInitialEvents is forbidden for list'))
  return [...errors, ...matchErrors(query, token)]
}

/** All errors of `resourceVersionMatch`. */
function matchErrors(query: ReadQuery, token: string): PlainFieldError[] {
  const errors: PlainFieldError[] = []
  const match = query.resourceVersionMatch ?? ''
  const version = query.resourceVersion ?? ''
  if (match === '') return errors
  if (version === '') errors.push(forbiddenMatch('resourceVersionMatch is forbidden unless resourceVersion is provided'))
  if (token !== '') errors.push(besideContinue)
  if (match !== 'Exact' && match !== 'NotOlderThan') errors.push(unsupportedMatch(match, '"Exact", "NotOlderThan", ""'))
  if (match === 'Exact' && parseRevision(version) === 0) {
    errors.push(forbiddenMatch('resourceVersionMatch "exact" is forbidden for resourceVersion "0"'))
  }
  return errors
}

/** A malformed token is reported before an invalid resourceVersion; only version 0 is allowed with a token. */
function resolveContinue(query: ReadQuery, text: string, limit: number, rules: ReadRules): ResolvedRead {
  const reading = parseContinueToken(rules.names, text)
  if (reading.kind === 'malformed') return { kind: 'refused', error: badRequest(`invalid continue token: ${reading.message}`) }
  const version = query.resourceVersion ?? ''
  if (version !== '' && parseRevision(version) !== 0) {
    return { kind: 'refused', error: badRequest('specifying resource version is not allowed when using continue') }
  }
  return { kind: 'continue', token: reading.token, limit }
}

/** A watch ignores limit, and checks only that continue is not combined with a match. */
function resolveWatch(query: ReadQuery, rules: ReadRules): ResolvedRead {
  const errors = watchErrors(query, rules)
  if (errors.length > 0) return refusedOptions(errors, rules)
  const withBookmarks = readQueryFlag(query.allowWatchBookmarks)
  const point = resolvePoint(query.resourceVersion, 0)
  if (point.kind === 'refused') return point
  const wantsState = query.sendInitialEvents === undefined ? point.kind !== 'notOlderThan' : readQueryFlag(query.sendInitialEvents)
  if (wantsState) {
    const isWatchList = withBookmarks && query.sendInitialEvents !== undefined
    return { kind: 'watchWithState', state: toPoint(point), withBookmarks, isWatchList }
  }
  if (point.kind !== 'notOlderThan') return { kind: 'watchFromNow', withBookmarks }
  return { kind: 'watchFrom', revision: point.revision, asked: point.asked, withBookmarks }
}

/** The first level with `sendInitialEvents`, which is an unknown parameter before. Messages about other errors then mention it. */
const initialEventsSince = 27

function watchErrors(query: ReadQuery, { isWatchListOn = false, level = 0 }: ReadRules): PlainFieldError[] {
  const match = query.resourceVersionMatch ?? ''
  const token = query.continue ?? ''
  const isAsked = query.sendInitialEvents !== undefined
  if (!isAsked && match === '') {
    const isImplied = isWatchListOn && ['', '0'].includes(query.resourceVersion ?? '')
    return isImplied && token !== '' ? [besideContinue] : []
  }
  if (level < initialEventsSince) {
    return [forbiddenMatch('resourceVersionMatch is forbidden for watch'), ...matchErrors(query, token)]
  }
  const errors: PlainFieldError[] = []
  if (!isAsked) errors.push(forbiddenMatch('resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided'))
  else if (match !== 'NotOlderThan') errors.push(forbiddenMatch('sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'))
  if (isAsked && !isWatchListOn) errors.push(initialEventsOff)
  if (match !== '' && match !== 'NotOlderThan') errors.push(unsupportedMatch(match, '"NotOlderThan"'))
  if (match !== '' && token !== '') errors.push(besideContinue)
  return errors
}

type LimitedPoint = ReadPoint & { readonly limit: number }

function resolvePoint(asked: string | undefined, limit: number): LimitedPoint | { kind: 'refused'; error: StatusError } {
  if (asked === undefined || asked === '') return { kind: 'latest', limit }
  const revision = parseRevision(asked)
  if (revision === undefined) return { kind: 'refused', error: badVersion(asked) }
  return revision === 0 ? { kind: 'any', limit } : { kind: 'notOlderThan', revision, asked, limit }
}

function toPoint(point: LimitedPoint): ReadPoint {
  return point.kind === 'notOlderThan' ? { kind: point.kind, revision: point.revision, asked: point.asked } : { kind: point.kind }
}

function badVersion(asked: string): StatusError {
  const text = JSON.stringify(asked)
  const why = /^\d+$/.test(asked) ? 'value out of range' : 'invalid syntax'
  return badRequest(`invalid resource version: resourceVersion: Invalid value: ${text}: strconv.ParseUint: parsing ${text}: ${why}`)
}

function refusedOptions(errors: readonly PlainFieldError[], { names }: ReadRules): ResolvedRead {
  return { kind: 'refused', error: invalid({ group: domainGroup(names, 'meta'), kind: 'ListOptions' }, '', errors) }
}

function forbidden(field: string, detail: string): PlainFieldError {
  return { reason: 'FieldValueForbidden', field, message: `Forbidden: ${detail}` }
}

function forbiddenMatch(detail: string): PlainFieldError {
  return forbidden('resourceVersionMatch', detail)
}

const initialEventsOff = forbidden(
  'sendInitialEvents',
  'sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled',
)
const besideContinue = forbiddenMatch('resourceVersionMatch is forbidden when continue is provided')

function unsupportedMatch(match: string, supported: string): PlainFieldError {
  const message = `Unsupported value: ${JSON.stringify(match)}: supported values: ${supported}`
  return { reason: 'FieldValueNotSupported', field: 'resourceVersionMatch', message }
}
