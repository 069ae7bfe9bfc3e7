import type { KindReaders, Resource } from '@orch/core/catalogue'
import { type ExactOptions, isJsonObject } from '@orch/core/json'
import {
  type ApiObject,
  badRequest,
  failed,
  type LevelText,
  notFound,
  textAt,
  textSince,
  unknownPatchType,
  unsupportedMediaType,
} from '@orch/core/meta'
import { applyJsonPatch, applyMergePatch, type JsonPatchOutcome, type MergeOutcome, parseJsonPatch, strategicMerge } from '@orch/core/patch'
import { fieldProblems } from '@orch/core/schema'
import { limits } from '../limits.ts'
import { respondStored } from '../representations/respond-stored.ts'
import { decodeBody, type GatewayRequest, pause, readBytes } from '../request/index.ts'
import type { Target } from '../target/target.ts'
import { type Candidate, reportProblems, requirePlace } from '../write/candidate.ts'
import type { Intent, Write } from '../write/draft.ts'
import type { Live } from '../write/live.ts'
import { type WriteOptions, writeOptionsOf } from '../write/options.ts'
import { write } from '../write/write.ts'
import { type ApplyParts, apply, applyMediaTypes, isApply } from './apply.ts'
import type { Change, PatchBody } from './change.ts'
import { decodePatched } from './patched-object.ts'
import { requireNumericVersion, requireSameObject } from './update.ts'
import type { Verb } from './verb.ts'

/** The dependencies of a patch. */
export type PatchParts = ApplyParts

const strategicMergeType = 'application/strategic-merge-patch+json'
/** Patches of objects whose lists have no keys to merge by. */
const untypedPatchTypes = ['application/json-patch+json', 'application/merge-patch+json']

/** Applies a patch to an object, or to the part in the path. */
export const patch: Verb<PatchParts> = async (request, target, parts) => {
  if (isApply(request)) return apply(request, target, parts)
  refuseOtherPatches(request, target)
  const options = writeOptionsOf(request, parts, 'PatchOptions')
  const change = await readChange(request, target.served.resource, options, parts)
  const optionsObject = { kind: 'UpdateOptions', apiVersion: parts.metaVersion, fieldManager: options.fieldManager }
  const decide = (live: Live | undefined) => patched({ request, target, options, change }, live, parts)
  const { json, object, fingerprint } = await write({ request, target, name: target.info.name, options, optionsObject, decide }, parts)
  await respondStored(request, { code: 200, served: target.served, content: { value: json, fingerprint }, object }, parts)
}

/** Objects of custom kinds and their subresources, including the scale, are not merged by list keys. The refusal names the supported patch types. */
export function refuseOtherPatches(request: GatewayRequest, { served }: Target): void {
  const { contentType } = request
  if (untypedPatchTypes.includes(contentType)) return
  if (served.resource.readers.mergeSchema === undefined) throw unsupportedMediaType([...untypedPatchTypes, ...applyMediaTypes(request)])
  if (contentType !== strategicMergeType) throw unknownPatchType()
}

/** Parses a patch of any type for an object of this type. A strategic merge works on values, others on the text's spelling. */
export async function readChange(
  request: GatewayRequest,
  { readers }: Pick<Resource, 'readers'>,
  { fieldValidation }: Pick<WriteOptions, 'fieldValidation'>,
  parts: PatchParts,
): Promise<Change> {
  const asText = { keepsNumerals: !readers.isUntyped }
  switch (request.contentType) {
    case 'application/json-patch+json': {
      const body = await readPatchBody(request, parts, asText)
      const reading = parseJsonPatch(body.value, fieldValidation === 'Ignore' ? 'unchecked' : 'request')
      if (reading.kind === 'refused') throw reading.error
      const texts = fieldProblems({ unknown: reading.unknownFields, duplicates: body.duplicates, source: body.source })
      const problems = texts.map((text) => `json patch ${text}`)
      return { kind: 'json', patch: reading.patch, problems, body: { ...body, duplicates: [] } }
    }
    case 'application/merge-patch+json':
      return { kind: 'merge', body: await readPatchBody(request, parts, asText) }
    case strategicMergeType:
      return { kind: 'strategic', body: await readPatchBody(request, parts, {}) }
    default:
      throw unknownPatchType()
  }
}

async function readPatchBody(request: GatewayRequest, parts: PatchParts, options: ExactOptions): Promise<PatchBody> {
  const bytes = await readBytes(request, parts)
  const decoded = await decodeBody(request, bytes, parts, options)
  if (decoded.kind === 'malformed') throw badRequest(textAt(malformedPatch(decoded.message), parts.level))
  const isReread = decoded.duplicates.length > 0 && bytes.length <= limits.largeBytesMin
  return isReread ? { ...decoded, source: () => Buffer.from(bytes).toString() } : decoded
}

function malformedPatch(problem: string): LevelText {
  return textSince(37, { before: `error decoding patch: ${problem}`, after: 'invalid JSON patch' })
}

interface Patching extends Pick<Write, 'request' | 'target' | 'options'> {
  readonly change: Change
}

async function patched({ request, target, options, change }: Patching, live: Live | undefined, parts: PatchParts): Promise<Intent> {
  const { served, info } = target
  if (live === undefined) throw notFound(served.name, info.name)
  const value = applyChange(change, live.object, served.resource)
  await pause(request, parts)
  const candidate = decodePatched(served.resource, { change, value, live }, parts)
  reportProblems(served.resource, candidate.problems, options.fieldValidation, (text) => request.warn(text))
  requirePlace(candidate.object, target)
  requireSameVersion(target, candidate, live, parts)
  return { kind: 'update', candidate, live }
}

/** The document of this type after the patch. */
export function applyChange(change: Change, live: ApiObject, { readers }: Pick<Resource, 'readers'>): Record<string, unknown> {
  const outcome = outcomeOf(change, live, readers)
  if (outcome.kind === 'refused') throw outcome.error
  if (!isJsonObject(outcome.value))
    throw failed(422, 'Invalid', 'the server rejected our request due to an error in our request', { details: {} })
  return outcome.value
}

function outcomeOf(change: Change, live: ApiObject, { mergeSchema }: Pick<KindReaders, 'mergeSchema'>): JsonPatchOutcome | MergeOutcome {
  switch (change.kind) {
    case 'json':
      return applyJsonPatch(live, change.patch)
    case 'merge':
      return applyMergePatch(live, change.body.value)
    case 'strategic':
      if (mergeSchema === undefined) throw unknownPatchType()
      return strategicMerge(live, change.body.value, mergeSchema)
  }
}

/** A version in the patch is a precondition; an omitted one comes from the live object. */
function requireSameVersion(target: Target, candidate: Candidate, live: Live, parts: Pick<PatchParts, 'level'>): void {
  if (candidate.object.metadata.resourceVersion === live.object.metadata.resourceVersion) return
  requireNumericVersion(candidate)
  const { uid: _uid, ...metadata } = candidate.object.metadata
  requireSameObject(target, { ...candidate, object: { ...candidate.object, metadata } }, live, parts)
}
