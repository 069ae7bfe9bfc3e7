import { isUtf8 } from 'node:buffer'
import { type ApplyConflict, conflictStatus, type OwnedObject } from '@orch/core/apply'
import type { KindReaders } from '@orch/core/catalogue'
import { cannotUnmarshal, isJsonObject, printBare, surrogateEscapeIn } from '@orch/core/json'
import { badRequest, conflict, notFound } from '@orch/core/meta'
import { decodeFailureText, fieldProblems, type MismatchTexts } from '@orch/core/schema'
import { repeatsProblems } from '@orch/core/yaml'
import { type RespondStoredParts, respondStored } from '../representations/respond-stored.ts'
import { type BodyParts, cborProblem, decodeBody, decodeCborBody, parseYamlBody, readBytes } from '../request/body.ts'
import { pause } from '../request/pace.ts'
import type { GatewayRequest } from '../request/request.ts'
import type { Target } from '../target/target.ts'
import { type Candidate, decodeCandidate, requirePlace } from '../write/candidate.ts'
import type { Intent } from '../write/draft.ts'
import type { Live } from '../write/live.ts'
import { type OptionsParts, type WriteOptions, writeOptionsOf } from '../write/options.ts'
import { applyConfiguration, ownVersions } from '../write/ownership.ts'
import { type WriteParts, write } from '../write/write.ts'
import { requireNumericVersion, requireSameObject } from './update.ts'
import type { Verb } from './verb.ts'

/** The dependencies of an apply. */
export type ApplyParts = WriteParts & BodyParts & OptionsParts & RespondStoredParts

/** Media type of an apply configuration, in YAML or JSON. */
const applyMediaType = 'application/apply-patch+yaml'
/** Media type of an apply configuration in CBOR. */
const applyCborMediaType = 'application/apply-patch+cbor'

/** True if a body is an apply configuration. */
export function isApply({ contentType, hasCbor }: Pick<GatewayRequest, 'contentType' | 'hasCbor'>): boolean {
  return contentType === applyMediaType || (hasCbor && contentType === applyCborMediaType)
}

/** Media types of configurations. */
export function applyMediaTypes({ hasCbor }: Pick<GatewayRequest, 'hasCbor'>): readonly string[] {
  return hasCbor ? [applyMediaType, applyCborMediaType] : [applyMediaType]
}

/** Merges an applier's configuration into an object, or creates it. */
export const apply: Verb<ApplyParts> = async (request, target, parts) => {
  const options = writeOptionsOf(request, parts, 'PatchOptions', { isApply: true })
  const configuration = await readConfiguration(request, options, target.served.resource.readers, parts)
  requireKind(target, configuration.object)
  const optionsObject = { kind: 'PatchOptions', apiVersion: parts.metaVersion, fieldManager: options.fieldManager, force: options.isForced }
  const plan = { request, target, name: target.info.name, options, optionsObject }
  const decide = (live: Live | undefined) => applied(plan, configuration, live, parts)
  const { json, kind, fingerprint } = await write({ ...plan, decide }, parts)
  const content = { value: json, fingerprint }
  await respondStored(request, { code: kind === 'created' ? 201 : 200, served: target.served, content }, parts)
}

/** An applied configuration that has been read. */
export interface Configuration {
  readonly object: OwnedObject
  readonly hasBigIntegers: boolean
}

/** The configuration in a body; duplicate members are reported or refused. */
export async function readConfiguration(
  request: GatewayRequest,
  { fieldValidation }: WriteOptions,
  readers: Pick<KindReaders, 'decode'>,
  parts: ApplyParts,
): Promise<Configuration> {
  const bytes = await readBytes(request, parts)
  const { value: parsed, repeats, hasBigIntegers } = await parseConfiguration(request, bytes, parts)
  await pause(request, parts)
  const value = parsed ?? {}
  if (!isJsonObject(value)) throw badRequest(`error decoding patch: ${notAnObject(value)}`)
  if (repeats.length > 0 && fieldValidation === 'Strict') {
    const problems = [...repeatsProblems(repeats), ...fieldProblems({ unknown: unknownFieldsOf(readers, value), duplicates: [] })]
    throw badRequest(`error strict decoding patch: ${conversionFailure}${problems.join(', ')}`)
  }
  if (fieldValidation === 'Warn') for (const repeat of repeats) request.warn(repeat)
  return { object: value, hasBigIntegers }
}

const conversionFailure = 'error converting YAML to JSON: '

function notAnObject(value: unknown): string {
  return `error unmarshaling JSON: while decoding JSON: ${cannotUnmarshal(value, 'map[string]interface {}')}`
}

/** Unknown fields always refuse a configuration; here they are listed with the other errors. */
function unknownFieldsOf({ decode }: Pick<KindReaders, 'decode'>, value: Record<string, unknown>): readonly string[] {
  const decoded = decode(value, { trackUnknown: true })
  return decoded.kind === 'decoded' ? decoded.unknownFields : []
}

/** A configuration that has been parsed. */
interface ParsedConfiguration {
  readonly value: unknown
  readonly repeats: readonly string[]
  readonly hasBigIntegers: boolean
}

async function parseCborConfiguration(request: GatewayRequest, bytes: Uint8Array, parts: ApplyParts): Promise<ParsedConfiguration> {
  const decoded = await decodeCborBody(request, bytes, parts)
  if (decoded.kind === 'malformed') throw badRequest(`error decoding patch: ${decoded.message}`)
  const problem = cborProblem(decoded, 'map[string]interface {}')
  if (problem !== undefined) throw badRequest(`error decoding patch: ${problem}`)
  return { ...decoded, repeats: [] }
}

/** JSON is YAML, and most clients send it; its own parser is faster. Only YAML has lines of duplicate members. */
async function parseConfiguration(request: GatewayRequest, bytes: Uint8Array, parts: ApplyParts): Promise<ParsedConfiguration> {
  if (request.contentType === applyCborMediaType) return parseCborConfiguration(request, bytes, parts)
  const decoded = await decodeBody(request, bytes, parts)
  const isPlain = decoded.kind === 'json' && decoded.duplicates.length === 0 && isUtf8(bytes) && !hasSurrogateEscape(bytes)
  if (isPlain) return { ...decoded, repeats: [] }
  const parsed = await parseYamlBody(request, bytes, parts)
  if (parsed.kind === 'yaml') return parsed
  // A body that starts like JSON is not converted before it is decoded.
  const step = beginsAsJson.test(Buffer.from(bytes.subarray(0, beginningBytes)).toString())
    ? `decoding patch: ${conversionFailure}`
    : 'encoding patch: '
  throw badRequest(`error ${step}${parsed.message}`)
}

/** Maximum bytes searched for a brace. */
const beginningBytes = 64
const beginsAsJson = /^\s*\{/

/** YAML accepts no escapes of surrogates, not even of pairs. */
function hasSurrogateEscape(bytes: Uint8Array): boolean {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  return (text.includes('\\ud') || text.includes('\\uD')) && surrogateEscapeIn(text.toString()) !== undefined
}

/** A configuration of another version, or without one, is refused when it is applied. */
function requireKind({ served }: Target, { kind, apiVersion }: OwnedObject): void {
  const { resource } = served
  if (kind === resource.kind || apiVersion !== resource.apiVersion) return
  throw badRequest(`invalid object type: ${resource.group}/${resource.version}, Kind=${printBare(kind ?? '')}`)
}

type Plan = { readonly request: GatewayRequest; readonly target: Target; readonly options: WriteOptions }

/** The object to write when the configuration is merged into the live one. */
export async function applied(plan: Plan, configuration: Configuration, live: Live | undefined, parts: ApplyParts): Promise<Intent> {
  const { served, subresource, info } = plan.target
  if (live === undefined && subresource !== undefined) throw notFound(served.name, info.name)
  const { request } = plan
  const outcome = await outcomeOf(plan, configuration, live, parts)
  await pause(request, parts)
  switch (outcome.kind) {
    case 'invalid':
      throw badRequest(outcome.message)
    case 'conflicts':
      throw conflictStatus(outcome.conflicts.map((conflict) => asSeenAt(plan.target, conflict)))
    case 'applied': {
      const { hasBigIntegers } = configuration
      const source = { hasBigIntegers, duplicates: [], keepsNulls: true, replaced: live }
      const decoded = decodeCandidate(served.resource, outcome.object, source, notConverted(plan, configuration))
      return intend(plan.target, { ...decoded, owners: outcome.managedFields }, live, parts)
    }
  }
}

/** Through a subresource of another kind, such as a Scale, the fields of all managers are fields of that kind. */
function asSeenAt({ served, subresource }: Target, conflict: ApplyConflict): ApplyConflict {
  return subresource === undefined || subresource.kind === served.resource.kind
    ? conflict
    : { ...conflict, apiVersion: subresource.apiVersion }
}

/** The refusal of a value that the schema of the configuration admits and the type does not, such as a time. */
function notConverted({ target }: Plan, { object }: Configuration): (mismatch: MismatchTexts) => Error {
  const { kind, group, version, readers } = target.served.resource
  if (readers.isUntyped) return (mismatch) => badRequest(decodeFailureText(kind, version, mismatch))
  const metadata = isJsonObject(object['metadata']) ? object['metadata'] : {}
  const type = `${group}/${version}, Kind=${kind}`
  const place = `${metadata['namespace'] ?? ''}/${metadata['name'] ?? ''}; ${type}`
  const problem = `failed to convert new object (${place}) to proper version: unable to convert unstructured object to ${type}`
  return ({ textWithoutPath, restoreText }) => badRequest(`${problem}: ${restoreText ?? textWithoutPath}`)
}

/** A value of a wrong type is the client's error, even if it is found only in the conversion to another version. */
async function outcomeOf(plan: Plan, { object, hasBigIntegers }: Configuration, live: Live | undefined, parts: ApplyParts) {
  try {
    return await ownVersions(plan, parts, (own) => applyConfiguration(plan, object, live?.object, own))
  } catch (error) {
    decodeCandidate(plan.target.served.resource, object, { hasBigIntegers, duplicates: [] })
    throw error
  }
}

/** Version and uid in the configuration are preconditions; by default those of the live object. */
function intend(target: Target, candidate: Candidate, live: Live | undefined, parts: Pick<ApplyParts, 'level'>): Intent {
  const { served, info } = target
  requirePlace(candidate.object, target)
  requireNumericVersion(candidate)
  if (live !== undefined) {
    requireSameObject(target, candidate, live, parts)
    return { kind: 'update', candidate, live }
  }
  const { uid } = candidate.object.metadata
  if (uid) {
    const reason = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`
    throw conflict(served.name, info.name, reason)
  }
  return { kind: 'create', candidate }
}
