import type { Catalogue, Resource, Subresource } from '@orch/core/catalogue'
import { cannotUnmarshal, freezeDeeply, isJsonObject, printBare, printValue } from '@orch/core/json'
import {
  type ApiObject,
  badRequest,
  invalid,
  type ManagedFieldsEntry,
  parseApiVersion,
  textAt,
  textSince,
  withoutEmptyGroup,
} from '@orch/core/meta'
import type { Names } from '@orch/core/names'
import { decodeFailureText, fieldProblems, inMemberOrder, type MismatchTexts, strictFailureText, withoutOwnJson } from '@orch/core/schema'
import { problemLines, repeatsProblems } from '@orch/core/yaml'
import { type GatewayRequest, jsonProblem, type ParsedBody, unrecognized } from '../request/index.ts'
import type { Target } from '../target/target.ts'
import type { Live } from './live.ts'
import type { FieldValidation, WriteOptions } from './options.ts'

/** The dependencies of reading an object from a body. */
export interface CandidateParts {
  readonly names: Names
  readonly catalogue: Catalogue
}

/** An object before it is written, in the version of the request. */
export interface Candidate {
  /** With checked types and sorted fields, without unknown fields. It belongs to the write and may be changed, except for frozen parts. */
  readonly object: ApiObject
  /** Counts members in the writer's body; those of the live object are counted when it is written. */
  readonly hasBigIntegers: boolean
  /** As sent, or as a patch left it. */
  readonly body: unknown
  /** `unknown field "spec.zzz"`, `duplicate field "spec.size"`. */
  readonly problems: readonly string[]
  /** The owners of its fields, if the verb has computed them. */
  readonly owners?: ManagedFieldsEntry[]
}

/** The object of the body of a POST or PUT, checked against its address. `live`: the object that it replaces. */
export function readCandidate(
  target: Target,
  body: ParsedBody,
  parts: Pick<CandidateParts, 'catalogue'>,
  live?: Pick<Live, 'object' | 'isAsDecoded'>,
): Candidate {
  const { served, subresource } = target
  const described = subresource ?? served.resource
  const replaced = described.type === served.resource.type ? live : undefined
  const candidate = decodeCandidate(described, requireKind(body, described, parts), { ...body, replaced })
  requirePlace(candidate.object, target)
  return candidate
}

/** The write of the body of a POST. */
export interface NewWrite {
  readonly request: GatewayRequest
  readonly target: Target
  readonly options: Pick<WriteOptions, 'fieldValidation'>
}

/** The object in the body of a POST, and its intended change: it is created. */
export function readNew({ request, target, options }: NewWrite, body: ParsedBody, parts: CandidateParts) {
  const candidate = readCandidate(target, body, parts)
  request.writtenName = candidate.object.metadata.name ?? ''
  reportProblems(target.served.resource, candidate.problems, options.fieldValidation, (text) => request.warn(text))
  return { kind: 'create', candidate } as const
}

/** The kind of a body. */
export type Described = Pick<Resource | Subresource, 'group' | 'kind' | 'version' | 'type' | 'apiVersion' | 'readers'>

/** The live object, deeply frozen, if a decoded one may share its parts. */
export function sharedOf(live: Pick<Live, 'object' | 'isAsDecoded'> | undefined): ApiObject | undefined {
  return live?.isAsDecoded === true ? freezeDeeply(live.object) : undefined
}

/** The source of a candidate's JSON. */
type CandidateSource = Pick<ParsedBody, 'hasBigIntegers' | 'hasNumerals' | 'duplicates' | 'repeats' | 'source'> & {
  /** The object of the same type that the candidate replaces, with which equal parts are shared. */
  readonly replaced?: Pick<Live, 'object' | 'isAsDecoded'> | undefined
  /** True for an apply: kube-apiserver keeps nulls until its validation. */
  readonly keepsNulls?: boolean
  /** True for the result of a patch, with the duplicates of the patch. */
  readonly isPatched?: boolean
}

/** Parsed JSON as an object of the resource. A value of a wrong type is a 400, unless the caller decides otherwise. */
export function decodeCandidate(
  { kind, version, type, readers, apiVersion }: Described,
  value: Readonly<Record<string, unknown>>,
  { hasBigIntegers, hasNumerals, duplicates, repeats, source, replaced, keepsNulls = false, isPatched = false }: CandidateSource,
  refuse = (mismatch: MismatchTexts): Error => badRequest(decodeFailureText(kind, version, mismatch)),
): Candidate {
  const decoded = readers.decode(value, { trackUnknown: true, keepsNulls, known: sharedOf(replaced), old: replaced?.object, hasNumerals })
  if (decoded.kind === 'mismatch') throw refuse(decoded)
  const unreadable = readers.unreadable?.(decoded.object)
  if (unreadable !== undefined) throw refuse({ text: unreadable, textWithoutPath: unreadable })
  const metadata = { ...decoded.object.metadata }
  if (forgetsOwners(value)) metadata.managedFields = [{}]
  // kube-apiserver decodes types from YAML and from results of patches as JSON with sorted members.
  const isSorted = !readers.isUntyped && (isPatched || repeats !== undefined)
  const unknown = isSorted ? inMemberOrder(decoded.unknownFields) : decoded.unknownFields
  const isMap = isPatched || readers.isUntyped
  return {
    object: { ...decoded.object, kind, apiVersion, metadata },
    hasBigIntegers,
    body: value,
    problems: [
      ...(repeats === undefined ? [] : repeatsProblems(repeats)),
      ...fieldProblems({ unknown, duplicates: isMap ? duplicates : withoutOwnJson(type, value, duplicates), source, isMap }),
    ],
  }
}

/** An empty list of owners resets all owners, like one empty entry; decoding drops it. */
function forgetsOwners({ metadata }: Readonly<Record<string, unknown>>): boolean {
  const owners = isJsonObject(metadata) ? metadata['managedFields'] : undefined
  return Array.isArray(owners) && owners.length === 0
}

/** Reports unknown and duplicate fields, which are always dropped. Strict lists all of them. */
export function reportProblems(
  { kind, version }: Pick<Described, 'kind' | 'version'>,
  problems: readonly string[],
  validation: FieldValidation,
  warn: (text: string) => void,
): void {
  if (problems.length === 0) return
  switch (validation) {
    case 'Ignore':
      return
    case 'Warn':
      for (const problem of problems) for (const text of problemLines(problem)) warn(text)
      return
    case 'Strict':
      throw badRequest(strictFailureText(kind, version, problems))
  }
}

/** A body may omit the kind that the path implies, except for a custom kind. */
function requireKind(
  { value: given, summary }: ParsedBody,
  expected: Described,
  parts: Pick<CandidateParts, 'catalogue'>,
): Record<string, unknown> {
  // As in Go, null is an object without members.
  const value = given === null ? {} : given
  if (!isJsonObject(value)) throw unrecognized(expected.kind, jsonProblem(cannotUnmarshal(value, typeMetaType)), summary)
  if (expected.readers.isUntyped) requireNamedType(value, expected, summary)
  const kind = value['kind'] || expected.kind
  const apiVersion = withoutEmptyGroup(value['apiVersion']) || expected.apiVersion
  if (apiVersion === expected.apiVersion && kind === expected.kind) {
    if (apiVersion === value['apiVersion'] && kind === value['kind']) return value
    // The body belongs to the request unless it is frozen, and a copy of one with many members costs more than everything else here.
    return Object.assign(Object.isFrozen(value) ? { ...value } : value, { kind, apiVersion })
  }
  const named = { kind: printBare(kind), apiVersion: printBare(apiVersion) }
  if (expected.readers.isUntyped) throw otherUntyped(named, expected, value['metadata'])
  if (!isRegistered(named, parts.catalogue)) throw otherKind(named, expected, unregisteredText(named, parts.catalogue.level))
  if (apiVersion !== expected.apiVersion) throw otherVersion(named, expected)
  throw otherKind(named, expected, conversionText(named, expected))
}

/** A body that kube-apiserver reads without a type must have its own. Without its version it would be a 500 there. */
function requireNamedType(value: Readonly<Record<string, unknown>>, { kind, version }: Described, summary: string): void {
  const missing = value['kind'] ? (value['apiVersion'] ? undefined : 'apiVersion') : 'Kind'
  if (missing === undefined) return
  throw badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: Object '${missing}' is missing in '${summary}'`)
}

/** A body that kube-apiserver reads without a type has another version when it is decoded, and another kind when it is validated. */
function otherUntyped({ kind, apiVersion }: GivenKind, expected: Described, metadata: unknown): Error {
  if (apiVersion !== expected.apiVersion) return otherVersion({ kind, apiVersion }, expected)
  const error = {
    reason: 'FieldValueInvalid',
    field: 'kind',
    message: `Invalid value: ${printValue(kind)}: must be ${expected.kind}`,
  } as const
  const name = isJsonObject(metadata) && typeof metadata['name'] === 'string' ? metadata['name'] : ''
  return invalid({ group: expected.group, kind }, name, [error])
}

function otherVersion({ apiVersion }: GivenKind, expected: Described): Error {
  return badRequest(`the API version in the data (${apiVersion}) does not match the expected API version (${expected.apiVersion})`)
}

/** The Go type from which kube-apiserver reads the kind of a JSON text. */
export const typeMetaType = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'

/** The kind in a body. */
interface GivenKind {
  readonly kind: string
  readonly apiVersion: string
}

function isRegistered({ kind, apiVersion }: GivenKind, catalogue: Catalogue): boolean {
  const groupVersion = parseApiVersion(apiVersion)
  return groupVersion !== undefined && catalogue.readersOfKind({ ...groupVersion, kind }) !== undefined
}

function otherKind({ kind, apiVersion }: GivenKind, expected: Described, why: string): Error {
  const version = apiVersion.slice(apiVersion.lastIndexOf('/') + 1)
  return badRequest(`${kind} in version "${version}" cannot be handled as a ${expected.kind}: ${why}`)
}

/** kube-apiserver names the place of its list of kinds; clients compare the whole text. */
export const listOfKinds = textSince(34, { before: 'scheme "pkg/runtime/scheme.go:100"', after: 'scheme "pkg/runtime/scheme.go:111"' })

/** The refusal of an unknown kind, in the words of a level. */
export function unregisteredText({ kind, apiVersion }: GivenKind, level: number): string {
  return `no kind "${kind}" is registered for version "${apiVersion}" in ${textAt(listOfKinds, level)}`
}

function conversionText({ kind }: GivenKind, { kind: expected, version, type }: Described): string {
  const [internal = ''] = type.split('/')
  return `converting (${version}.${kind}) to (${internal}.${expected}): unknown conversion`
}

/**
 * The namespace in the object may be omitted, but must not differ from the path's. The namespace of a cluster-scoped object is dropped, as in
 * kube-apiserver.
 */
export function requirePlace({ metadata }: ApiObject, { served: { resource }, info }: Pick<Target, 'served' | 'info'>): void {
  const { name } = info
  const namespace = resource.isNamespaced ? info.namespace : ''
  if (!resource.isNamespaced) {
    if (metadata.namespace !== undefined) delete metadata.namespace
  } else if (metadata.namespace && metadata.namespace !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request')
  }
  if (name !== '' && metadata.name && metadata.name !== name) {
    throw badRequest(`the name of the object (${metadata.name}) does not match the name on the URL (${name})`)
  }
  if (name !== '' && !metadata.name) {
    throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`)
  }
  if (namespace !== '') metadata.namespace = namespace
}
