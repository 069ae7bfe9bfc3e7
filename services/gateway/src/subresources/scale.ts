import type { OwnedObject } from '@orch/core/apply'
import type { ScalePaths } from '@orch/core/catalogue'
import type { CallContext } from '@orch/core/contracts'
import { rowObjectOf } from '@orch/core/events'
import { isJsonObject } from '@orch/core/json'
import {
  type ApiObject,
  badRequest,
  conflict,
  internal,
  invalid,
  notFound,
  type PlainFieldError,
  parseRevision,
  type ResourceName,
} from '@orch/core/meta'
import { type BuiltIn, decodeFailureText, isOfType, requireType } from '@orch/core/schema'
import { type LabelSelector, printLabelSelector, toLabelRequirements } from '@orch/core/selectors'
import { readScale, withReplicas as withReplicasAt } from '@orch/core/structural'
import { printTable, printTableRow, scaleTable, tablePrinterOf } from '@orch/core/table'
import { readConverted } from '../conversion/by-webhook.ts'
import { needsWebhook, readBytesOfOurs, type StoredContent, toServedObject } from '../conversion/convert.ts'
import { includeObjectOf } from '../representations/respond-stored.ts'
import { callContext, type GatewayRequest, readBody, respondJson } from '../request/index.ts'
import type { SubresourceTarget, Target } from '../target/target.ts'
import { type ApplyParts, applied, isApply, readConfiguration } from '../verbs/apply.ts'
import type { Change } from '../verbs/change.ts'
import { applyChange, readChange, refuseOtherPatches } from '../verbs/patch.ts'
import { decodePatched } from '../verbs/patched-object.ts'
import { refuseExport, type SubresourceVerb } from '../verbs/verb.ts'
import { type CandidateParts, readCandidate, reportProblems } from '../write/candidate.ts'
import type { Intent, ShownAs, Write } from '../write/draft.ts'
import { type Live, readPresent, uidMismatch } from '../write/live.ts'
import { writeOptionsOf } from '../write/options.ts'
import { write } from '../write/write.ts'
import { respondKind } from './respond-kind.ts'

/** The dependencies of the Scale of an object. */
export type ScaleParts = ApplyParts & CandidateParts

const scaleType = 'autoscaling/v1.Scale'

/** The number of pods of an object, separate from its other fields. */
type Scale = BuiltIn<typeof scaleType>

/** The new scale of a writer, given the current one. */
type Wish = (scale: Scale) => Scale

/** Reads the number of pods that an object wants and has. */
export const getScale: SubresourceVerb<ScaleParts> = async (request, target, parts) => {
  refuseExport(request)
  const object = await readPresent(request, target, parts, missingName(target, parts.level))
  requireReplicas(object, target)
  await respondScale(request, target, scaleOf(object, target), parts)
}

/** The resource that a 404 names. Below 1.33, it is the subresource for most built-in kinds. */
function missingName({ served: { name }, subresource: { scalePaths } }: SubresourceTarget, level: number): ResourceName {
  const { group, resource } = name
  if (level >= 33 || scalePaths !== undefined || resource === 'statefulsets') return name
  return { group: resource === 'replicationcontrollers' ? 'autoscaling' : group, resource: `${resource}/scale` }
}

/** An object without replicas has no readable Scale. */
function requireReplicas(object: ApiObject, { subresource: { scalePaths } }: SubresourceTarget): void {
  if (scalePaths === undefined || readScale(object, scalePaths).specReplicas !== undefined) return
  throw internal(`the spec replicas field ${JSON.stringify(scalePaths.specReplicasPath)} does not exist`)
}

/** The replicas of an object without any, for a patch: a zero is not printed, and would look the same. */
const unsetReplicas = -(2 ** 31)

function scaleToChange(object: ApiObject, target: SubresourceTarget): Scale {
  const scale = scaleOf(object, target)
  const { scalePaths } = target.subresource
  if (scalePaths === undefined || readScale(object, scalePaths).specReplicas !== undefined) return scale
  return { ...scale, spec: { replicas: unsetReplicas } }
}

function requireWish({ spec }: Scale, { subresource: { scalePaths } }: SubresourceTarget): void {
  if (scalePaths === undefined || spec.replicas !== unsetReplicas) return
  throw badRequest(`the spec replicas field ${JSON.stringify(scalePaths.specReplicasPath)} cannot be empty`)
}

/** Sets the replicas of an object. */
export const updateScale: SubresourceVerb<ScaleParts> = async (request, target, parts) => {
  const { subresource } = target
  const { object, problems } = readCandidate(target, await readBody(request, parts, subresource), parts)
  const options = writeOptionsOf(request, parts, 'UpdateOptions')
  reportProblems(subresource, problems, options.fieldValidation, (text) => request.warn(text))
  await writeScale({ request, target, options, decide: (live) => scaled(target, () => requireType(scaleType, object), live) }, parts)
}

/** Patches the scale like an object. */
export const patchScale: SubresourceVerb<ScaleParts> = async (request, target, parts) => {
  if (isApply(request)) return applyScale(request, target, parts)
  refuseOtherPatches(request, target)
  const options = writeOptionsOf(request, parts, 'PatchOptions')
  const change = await readChange(request, target.subresource, options, parts)
  const wish = (scale: Scale) => patchedScale({ request, target, options }, change, scale, parts)
  await writeScale({ request, target, options, decide: (live) => scaled(target, wish, live) }, parts)
}

function patchedScale(
  { request, target: { subresource }, options }: Pick<ScaleWrite, 'request' | 'target' | 'options'>,
  change: Change,
  scale: Scale,
  parts: Pick<ScaleParts, 'level'>,
): Scale {
  const value = applyChange(change, scale, subresource)
  const { object, problems } = decodePatched(subresource, { change, value }, parts)
  reportProblems(subresource, problems, options.fieldValidation, (text) => request.warn(text))
  return requireType(scaleType, object)
}

/** Applies the replicas as the field of the object. */
const applyScale: SubresourceVerb<ScaleParts> = async (request, target, parts) => {
  const options = writeOptionsOf(request, parts, 'PatchOptions', { isApply: true })
  const { object, hasBigIntegers } = await readConfiguration(request, options, target.subresource.readers, parts)
  const configuration = { object: configurationOf(target, object), hasBigIntegers }
  const decide = (live: Live | undefined) => applied({ request, target, options }, configuration, live, parts)
  await writeScale({ request, target, options, decide }, parts)
}

function configurationOf({ served, subresource, info }: SubresourceTarget, given: OwnedObject): OwnedObject {
  const { apiVersion, kind, version, readers } = subresource
  if (given['apiVersion'] !== apiVersion || given['kind'] !== kind) throw badRequest(`a ${kind} of ${apiVersion} was expected`)
  const decoded = readers.decode(given, { trackUnknown: true })
  if (decoded.kind === 'mismatch') throw badRequest(decodeFailureText(kind, version, decoded))
  const [unknown] = decoded.unknownFields
  if (unknown !== undefined) throw badRequest(`failed to create typed patch object: .${unknown}: field not declared in schema`)
  const { metadata: givenMetadata, spec } = given
  const metadata = isJsonObject(givenMetadata) ? givenMetadata : {}
  const { resource } = served
  return {
    apiVersion: resource.apiVersion,
    kind: resource.kind,
    metadata: { ...metadata, name: metadata['name'] ?? info.name },
    ...(spec === undefined ? {} : { spec }),
  }
}

interface ScaleWrite extends Pick<Write, 'request' | 'options' | 'decide'> {
  readonly target: SubresourceTarget
}

async function writeScale(scaleWrite: ScaleWrite, parts: ScaleParts): Promise<void> {
  const { request, target, options } = scaleWrite
  const { name } = target.info
  const optionsObject = { kind: 'UpdateOptions', apiVersion: parts.metaVersion, fieldManager: options.fieldManager }
  const shownAs: ShownAs = {
    kind: target.subresource.kind,
    show: (object) => scaleOf(object, target),
    take: (object, shown) => withReplicas(object, requireType(scaleType, shown), target),
  }
  const { json, fingerprint } = await write({ ...scaleWrite, name, optionsObject, shownAs }, parts)
  const object = await servedObjectOf({ value: json, fingerprint }, target, callContext(request, parts), parts)
  await respondScale(request, target, scaleOf(object, target), parts)
}

async function servedObjectOf(content: StoredContent, { served }: Target, context: CallContext, parts: ScaleParts): Promise<ApiObject> {
  if (needsWebhook(served, content)) return (await readConverted(parts, served, content, context)).object
  return toServedObject(parts, served, readBytesOfOurs(content.value).object)
}

function respondScale(request: GatewayRequest, { subresource }: SubresourceTarget, scale: Scale, parts: ScaleParts): void | Promise<void> {
  const { format, representation } = request.answer
  if (representation.kind !== 'table') return respondKind(request, subresource, { code: 200, object: scale }, parts)
  const table = tablePrinterOf(scaleTable)
  const object = rowObjectOf(includeObjectOf(request.query), () => Buffer.from(JSON.stringify(scale)))
  const row = printTableRow(parts.names, table.read(scale, parts.names), {
    version: representation.version,
    nowMs: parts.clock.now(),
    object,
  })
  const { resourceVersion = '' } = scale.metadata
  const front = { version: representation.version, metadata: { resourceVersion }, printer: table }
  return respondJson(request, 200, printTable(parts.names, front, [row]), format === 'yaml' ? 'yaml' : 'json')
}

function scaled(target: SubresourceTarget, wish: Wish, live: Live | undefined): Intent {
  const { served, info } = target
  if (live === undefined) throw notFound(served.name, info.name)
  const scale = wish(scaleToChange(live.object, target))
  requireSame(target, scale, live)
  requireWish(scale, target)
  const replicas = scale.spec.replicas ?? 0
  // The definition of a custom kind has the number's path and its rules.
  const hasOwnRules = target.subresource.scalePaths !== undefined
  if (replicas < 0 && !hasOwnRules) throw invalid({ group: 'autoscaling', kind: 'Scale' }, info.name, [negative(replicas)])
  const object = withReplicas(live.object, scale, target)
  return { kind: 'update', live, candidate: { object, hasBigIntegers: live.hasBigIntegers, body: object, problems: [] } }
}

function withReplicas(object: ApiObject, { spec: { replicas = 0 } }: Scale, { subresource }: Target): ApiObject {
  const paths = subresource?.scalePaths
  if (paths !== undefined) return { ...object, ...withReplicasAt(object, paths, replicas), metadata: { ...object.metadata } }
  return { ...object, metadata: { ...object.metadata }, spec: { ...(object.spec ?? {}), replicas } }
}

function negative(replicas: number): PlainFieldError {
  const message = `Invalid value: ${replicas}: must be greater than or equal to 0`
  return { reason: 'FieldValueInvalid', field: 'spec.replicas', message }
}

function requireSame({ served, info }: Target, { metadata: { uid, resourceVersion } }: Scale, live: Live): void {
  const liveUid = live.object.metadata.uid ?? ''
  if (uid && uid !== liveUid) throw uidMismatch(served, info.name, uid, liveUid)
  if (resourceVersion && parseRevision(resourceVersion) !== live.entry.revision) throw conflict(served.name, info.name)
}

function scaleOf(object: ApiObject, { subresource }: SubresourceTarget): Scale {
  if (subresource.scalePaths !== undefined) return customScaleOf(object, subresource.apiVersion, subresource.scalePaths)
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata
  const { replicas, seen = 0, selector: labels } = replicasOf(object)
  const selector = selectorTextOf(labels)
  return {
    kind: 'Scale',
    apiVersion: subresource.apiVersion,
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    spec: replicas ? { replicas } : {},
    status: { replicas: seen, ...(selector === '' ? {} : { selector }) },
  }
}

/** The numbers of a custom object, at the paths of its definition. */
function customScaleOf(object: ApiObject, apiVersion: string, paths: ScalePaths): Scale {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata
  const { specReplicas, statusReplicas, selector } = readScale(object, paths)
  return {
    kind: 'Scale',
    apiVersion,
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    spec: specReplicas === undefined || specReplicas === 0 ? {} : { replicas: specReplicas },
    status: { replicas: statusReplicas, ...(selector === '' ? {} : { selector }) },
  }
}

/** A ReplicationController selects by labels only, the others by a selector. */
function replicasOf(object: ApiObject) {
  if (isOfType('core/v1.ReplicationController', object)) {
    const { replicas, selector } = object.spec
    return { replicas, seen: object.status.replicas, selector: selector === undefined ? undefined : { matchLabels: selector } }
  }
  const { spec, status } =
    isOfType('apps/v1.Deployment', object) || isOfType('apps/v1.ReplicaSet', object) ? object : requireType('apps/v1.StatefulSet', object)
  return {
    replicas: spec.replicas,
    seen: status.replicas,
    selector: spec.selector ?? undefined,
  }
}

function selectorTextOf(selector: LabelSelector | undefined): string {
  if (selector === undefined) return ''
  const reading = toLabelRequirements(selector)
  return reading.kind === 'malformed' ? '' : printLabelSelector(reading.requirements)
}
