import { badRequest } from '@orch/core/meta'
import { readQueryFlag, readQueryInteger } from '@orch/core/read'

/** The parsed request, from its method, path and query alone. */
export type RequestInfo = ResourceInfo | PathInfo

export interface ResourceInfo {
  readonly kind: 'resource'
  readonly verb: ResourceVerb
  readonly group: string
  readonly version: string
  readonly namespace: string
  readonly resource: string
  /** '' for a collection. */
  readonly name: string
  readonly subresource: string
  /** The path after the subresource. */
  readonly rest: readonly string[]
}

export interface PathInfo {
  readonly kind: 'path'
  /** The method in lower case. */
  readonly verb: string
  readonly path: string
}

export type ResourceVerb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection' | 'unknown'

export interface RequestLine {
  readonly method: string
  /** Decoded, without the query. */
  readonly path: string
  /** True if the query requests a watch, which only matters for a collection. */
  readonly isWatch: boolean
}

/** Subresources of a namespace, which are not resources in it. */
const namespaceSubresources: ReadonlySet<string> = new Set(['status', 'finalize'])

/** Verb, resource, namespace and name of a request; other paths stay paths. */
export function parseRequestInfo({ method, path, isWatch }: RequestLine): RequestInfo {
  const segments = path.split('/')
  // A leading slash causes an empty first segment, and one at the end is allowed.
  if (segments[segments.length - 1] === '' && segments.length > 2) segments.pop()
  const start = segments[1] === 'api' ? 3 : segments[1] === 'apis' ? 4 : 0
  // An empty segment is no name: such a path is unserved, and never the shorter path.
  if (start === 0 || segments.length <= start || segments.includes('', 1)) return { kind: 'path', verb: method.toLowerCase(), path }
  const group = start === 3 ? '' : (segments[2] ?? '')
  const version = segments[start - 1] ?? ''
  const hasWatchPrefix = segments[start] === 'watch' && segments.length > start + 1
  const place = placeOf(segments, hasWatchPrefix ? start + 1 : start)
  // Below the prefix there are only watches.
  const isRefused = hasWatchPrefix && method !== 'GET'
  const isOfCollection = place.name === ''
  const watches = place.subresource === '' && (hasWatchPrefix || (isWatch && isOfCollection))
  const verb = isRefused ? 'unknown' : verbOf(method, isOfCollection, watches)
  return { kind: 'resource', verb, group, version, ...place }
}

type Place = Pick<ResourceInfo, 'namespace' | 'resource' | 'name' | 'subresource' | 'rest'>

const nothing: readonly string[] = []

function placeOf(segments: readonly string[], start: number): Place {
  const at = (index: number): string => segments[start + index] ?? ''
  const isInNamespace = at(0) === 'namespaces' && segments.length > start + 2 && !namespaceSubresources.has(at(2))
  const offset = isInNamespace ? 2 : 0
  const isNamespace = at(0) === 'namespaces' && !isInNamespace
  return {
    namespace: isInNamespace || isNamespace ? at(1) : '',
    resource: at(offset),
    name: at(offset + 1),
    subresource: at(offset + 2),
    rest: segments.length > start + offset + 3 ? segments.slice(start + offset + 3) : nothing,
  }
}

function verbOf(method: string, isOfCollection: boolean, watches: boolean): ResourceVerb {
  switch (method) {
    case 'GET':
      if (watches) return 'watch'
      return isOfCollection ? 'list' : 'get'
    case 'HEAD':
      return isOfCollection ? 'list' : 'get'
    case 'POST':
      return 'create'
    case 'PUT':
      return 'update'
    case 'PATCH':
      return 'patch'
    case 'DELETE':
      return isOfCollection ? 'deletecollection' : 'delete'
    default:
      return 'unknown'
  }
}

/** The parameters of a request. Only the first value of a parameter counts, except for lists. */
export interface Query {
  /** Undefined if the parameter is absent. */
  get(name: string): string | undefined
  /** All values, of a parameter that is a list. */
  all(name: string): readonly string[]
  /** The names of all parameters. */
  readonly names: readonly string[]
  readonly isEmpty: boolean
}

export const emptyQuery: Query = { get: () => undefined, all: () => [], names: [], isEmpty: true }

/** A semicolon, or an incomplete escape. */
const malformed = /;|%(?![\da-f]{2})/i

/** Reads the text after the `?`. As in Go, malformed parameters are ignored. */
export function parseQuery(text: string): Query {
  if (text === '') return emptyQuery
  // Without the `&`, a question mark at the start would be dropped.
  const wellFormed = malformed.test(text) ? text.split('&').filter((parameter) => !malformed.test(parameter)) : [text]
  const parameters = new URLSearchParams(`&${wellFormed.join('&')}`)
  return {
    get: (name) => parameters.get(name) ?? undefined,
    all: (name) => parameters.getAll(name),
    get names() {
      return [...parameters.keys()]
    },
    isEmpty: false,
  }
}

/** Parameters that every path takes. */
const commonParameters = ['pretty', 'timeout']

/** Refuses all other parameters: a misspelled name would select nothing, without a word. */
export function refuseUnknownParameters(query: Query, known: readonly string[]): void {
  const expected = [...known, ...commonParameters]
  const unknown = query.names.find((name) => !expected.includes(name))
  if (unknown !== undefined) throw badRequest(`${unknown}: unknown parameter; expected one of ${expected.join(', ')}`)
}

/** Every value but `false` and `0` is true, including the empty text. */
export function queryBoolean(query: Query, name: string): boolean {
  return readQueryFlag(query.get(name))
}

/** An integer; undefined if the parameter is absent. */
export function queryInteger(query: Query, name: string): number | undefined {
  const reading = readQueryInteger(query.get(name))
  if (reading.kind === 'refused') throw reading.error
  return reading.value
}

/** Prefix of past states: `/at/216/api/v1/pods`. */
export const pastFolder = '/at/'

/** The path within a past state, and the name of the state: `/at/216/api` gives `216` and `/api`. Undefined for other paths. */
export function splitPastPath(path: string): { readonly moment: string; readonly path: string } | undefined {
  if (!path.startsWith(pastFolder)) return undefined
  const end = path.indexOf('/', pastFolder.length)
  return end < 0
    ? { moment: path.slice(pastFolder.length), path: '/' }
    : { moment: path.slice(pastFolder.length, end), path: path.slice(end) }
}
