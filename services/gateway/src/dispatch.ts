import type { Resource } from '@orch/core/catalogue'
import { scopePrefix } from '@orch/core/contracts'
import { badRequest, failed, methodNotAllowed, methodNotSupported, noRepresentation, notAcceptable, notFound } from '@orch/core/meta'
import type { CustomResources } from './custom-resources/custom-resources.ts'
import { withReaders } from './custom-resources/ready-readers.ts'
import type { SchemaParts } from './custom-resources/schema-budget.ts'
import { acceptedMediaTypes, cborSequence, clausesOf, streamedMediaTypes } from './request/negotiate.ts'
import type { GatewayRequest } from './request/request.ts'
import { parseRequestInfo, type ResourceInfo, type ResourceVerb } from './request/request-info.ts'
import { nothingAt } from './request/respond.ts'
import { createBinding } from './subresources/binding.ts'
import { type SubresourceParts, subresourceVerb } from './subresources/subresource-verbs.ts'
import type { WarnOfDeprecation } from './target/deprecation.ts'
import type { Served, Target } from './target/target.ts'
import { type AccessReviewParts, accessReview, rulesReview } from './verbs/access-review.ts'
import { type ComponentStatusParts, getComponentStatus, listComponentStatuses } from './verbs/component-statuses.ts'
import { type CreateParts, create } from './verbs/create.ts'
import { type DeleteParts, deleteOne } from './verbs/delete.ts'
import { type DeleteCollectionParts, deleteCollection } from './verbs/delete-collection.ts'
import { type GetParts, get } from './verbs/get.ts'
import { type ListParts, list } from './verbs/list.ts'
import { getMetrics, listMetrics, type MetricsParts } from './verbs/metrics.ts'
import { type PatchParts, patch } from './verbs/patch.ts'
import { selfReview, type TokenReviewParts, tokenReview } from './verbs/token-review.ts'
import { type UpdateParts, update } from './verbs/update.ts'
import type { Verb } from './verbs/verb.ts'
import { type WatchParts, watch } from './verbs/watch.ts'

/** The dependencies of the verbs of all resources. */
export type DispatchParts = GetParts &
  ListParts &
  WatchParts &
  CreateParts &
  UpdateParts &
  PatchParts &
  DeleteParts &
  DeleteCollectionParts &
  AccessReviewParts &
  TokenReviewParts &
  ComponentStatusParts &
  MetricsParts &
  SubresourceParts &
  SchemaParts & {
    readonly warnOfDeprecation: WarnOfDeprecation
    readonly customResources: Pick<CustomResources, 'mayServe' | 'lookUp' | 'complete'>
  }

/** Serves a request to a resource: finds the target of the path, then runs the verb of the method. */
export function dispatch(request: GatewayRequest, info: ResourceInfo, parts: DispatchParts): void | Promise<void> {
  const { group, version, resource } = info
  const { customResources } = parts
  const served = parts.served.find(group, version, resource)
  if (servesPath(served, info) || !customResources.mayServe(group, resource)) return dispatchTo(served, request, info, parts)
  // Another gateway may have acknowledged the definition a moment ago.
  const lookUp = customResources.lookUp(`${resource}.${group}`)
  return lookUp.then(() => dispatchFound(request, info, parts))
}

/** A 404 needs the complete list of served resources. */
async function dispatchFound(request: GatewayRequest, info: ResourceInfo, parts: DispatchParts): Promise<void> {
  const { group, version, resource } = info
  const served = parts.served.find(group, version, resource)
  if (served === undefined) await parts.customResources.complete()
  return dispatchTo(served, request, info, parts)
}

/** True if the resource has the path, so that a definition acknowledged by another gateway can add nothing. */
function servesPath(served: Served | undefined, info: ResourceInfo): boolean {
  if (served === undefined || !isPlaceOf(served.resource, info)) return false
  return info.subresource === '' || served.subresource(info.subresource) !== undefined
}

function dispatchTo(served: Served | undefined, request: GatewayRequest, info: ResourceInfo, parts: DispatchParts): void | Promise<void> {
  const target = findTarget(served, request, info, parts)
  const verb = requireVerb(request, target, parts)
  const { deprecated, deprecationWarning } = target.served.resource
  if (deprecated !== undefined || deprecationWarning !== undefined) parts.warnOfDeprecation(request, target)
  if (target.served.resource.backing === 'virtual' || !hasTable(target)) request.refuseTable()
  if ((target.subresource ?? target.served.resource).readers.protobuf === undefined) request.refuseProtobuf()
  if (request.negotiated.objects === undefined || !hasRoute(request, target)) throw noAcceptable(request, target, parts)
  const { backing } = target.served.resource
  if (backing === 'computed' && request.pastRevision > 0) throw nothingAt(request.path, parts)
  if (backing === 'computed') return computedVerb(target)(request, target, parts)
  if (backing === 'virtual') {
    return virtualVerb(target)(request, target, parts)
  }
  const { preparable } = target.served.resource.readers
  // A get reads its object first: an object stored in the served form needs no schema.
  if (preparable === undefined || verb === get || readsMetadataAlone(request, info)) return verb(request, target, parts)
  return withReaders(target.served, parts, () => verb(request, target, parts))
}

/** Objects, their status and their scale can be shown as a Table. */
function hasTable({ subresource }: Target): boolean {
  return subresource === undefined || subresource.name === 'status' || subresource.name === 'scale'
}

/** If only metadata of a kind are read, for example by the garbage collector, the schema is loaded when an object exists. */
function readsMetadataAlone({ answer }: GatewayRequest, { verb }: ResourceInfo): boolean {
  return answer.representation.kind === 'metadata' && (verb === 'list' || verb === 'watch')
}

/** False if a built-in kind lacks the accepted media type: its routes offer neither parameters nor media ranges. */
function hasRoute({ negotiated }: GatewayRequest, { served }: Target): boolean {
  return negotiated.isKnownType || isCustom(served)
}

/** The message differs for an unknown media type and for unknown parameters, as in kube-apiserver. */
function noAcceptable(request: GatewayRequest, target: Target, { names }: DispatchParts): Error {
  const { verb } = target.info
  const accepted = acceptedMediaTypes(names, request)
  if (hasRoute(request, target)) return notAcceptable(accepted)
  if (verb !== 'list' && verb !== 'watch') return noRepresentation(accepted)
  const isSequence = request.hasCbor && clausesOf(request.exchange.header('accept') ?? '').some(({ type }) => type === cborSequence)
  return isSequence ? notAcceptable(accepted) : noRepresentation([...accepted, ...streamedMediaTypes(names, request)])
}

const verbs: Readonly<Record<Exclude<ResourceVerb, 'unknown'>, Verb<DispatchParts>>> = {
  get,
  list,
  watch,
  create,
  update,
  patch,
  delete: deleteOne,
  deletecollection: deleteCollection,
}

/** Subresources that are parts of the object itself, and their verbs. */
const ownParts: ReadonlySet<string> = new Set(['status', 'finalize', 'ephemeralcontainers', 'resize', 'approval'])

function findTarget(served: Served | undefined, request: GatewayRequest, info: ResourceInfo, parts: DispatchParts): Target {
  if (served === undefined || !isPlaceOf(served.resource, info)) throw nothingAt(request.path, parts)
  const subresource = info.subresource === '' ? undefined : served.subresource(info.subresource)
  request.isUnserved = info.subresource !== '' && subresource === undefined
  requireSegment(info.name, 'Name')
  requireSegment(info.namespace, 'Namespace')
  if (hasControlCharacter(info.name) || hasControlCharacter(info.namespace)) throw notFound(served.name, info.name)
  const { isNamespaced, stored } = served.resource
  const keyPrefix = scopePrefix({ resource: stored.prefix, namespace: isNamespaced ? info.namespace : '' })
  if (info.subresource === '') return { info, served, subresource: undefined, keyPrefix }
  if (subresource === undefined && isCustom(served)) throw notFound(served.name, info.name)
  if (isCustom(served) && info.rest.length > 0) throw notFound(served.name, info.name)
  if (subresource === undefined || (info.rest.length > 0 && subresource.hasSubpath !== true)) throw nothingAt(request.path, parts)
  return { info, served, subresource, keyPrefix }
}

/** Custom resources have a separate handler in kube-apiserver, with another message for absent subresources. */
function isCustom({ resource }: Served): boolean {
  return resource.definedBy !== undefined
}

/** Namespaced objects are found below a namespace; a path across all of them is a collection's. */
function isPlaceOf({ isNamespaced, isPlace, hasStrictPaths }: Resource, { namespace, name, verb }: ResourceInfo): boolean {
  if (isNamespaced) return namespace !== '' || (name === '' && (hasStrictPaths !== true || spansNamespaces(verb)))
  return namespace === '' || isPlace === true
}

function spansNamespaces(verb: ResourceVerb): boolean {
  return verb === 'list' || verb === 'watch'
}

/** A text that cannot be a path segment cannot be a name. */
function requireSegment(text: string, what: string): void {
  if (text === '.' || text === '..') throw badRequest(`${what} parameter invalid: ${JSON.stringify(text)}: may not be '${text}'`)
  if (text.includes('%')) throw badRequest(`${what} parameter invalid: ${JSON.stringify(text)}: may not contain '%'`)
}

function hasControlCharacter(text: string): boolean {
  for (let index = 0; index < text.length; index++) if (text.charCodeAt(index) < 0x20) return true
  return false
}

function requireVerb(request: GatewayRequest, target: Target, parts: DispatchParts): Verb<DispatchParts> {
  const { served, subresource, info } = target
  const isConnection = subresource?.connect?.includes(request.method) === true
  const name = isConnection && info.verb === 'unknown' ? 'get' : info.verb
  const isRefused = (name === 'get' || name === 'list') && !isConnection && !isCustom(served) && request.method === 'HEAD'
  if (isCustom(served) && info.name === '' && (name === 'update' || name === 'patch')) throw badRequest('name must be provided')
  if (isRefused || name === 'unknown' || !isServed(name, target)) {
    request.allowedMethods = methodsOf(request.path, target)
    if (request.allowedMethods.length === 0 && subresource === undefined) throw nothingAt(request.path, parts)
    if (subresource === undefined || name === 'unknown' || !isCustom(served)) throw methodNotAllowed()
    throw methodNotSupported(served.name, name)
  }
  if (subresource === undefined || ownParts.has(subresource.name)) return verbs[name]
  const verb = subresourceVerb(subresource.name, name)
  if (verb === undefined) throw unavailable(target)
  return (...[, , parts]) => verb(request, { served, subresource, info, keyPrefix: target.keyPrefix }, parts)
}

function isServed(verb: ResourceVerb, { served, subresource, info }: Target): boolean {
  const { verbs: listed, isTerminating } = served.resource
  const isAllowed = subresource === undefined ? isTerminating === true || listed.includes(verb) : subresource.verbs.includes(verb)
  const needsNamespace = served.resource.isNamespaced && info.namespace === '' && !spansNamespaces(verb)
  return isAllowed && !needsNamespace && fitsPath(verb, info)
}

/** Methods that are served at the path of a request. */
function methodsOf(path: string, target: Target): string[] {
  return ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].filter((method) => {
    const info = parseRequestInfo({ method, path, isWatch: false })
    return info.kind === 'resource' && isServed(info.verb, { ...target, info })
  })
}

/** The creation of objects that are not stored, by the answer type of their kind. */
const answers: Readonly<Record<NonNullable<Resource['answeredBy']>, Verb<DispatchParts>>> = {
  accessReview,
  rulesReview,
  tokenReview,
  selfReview,
  binding: createBinding,
}

/** The reads of objects that are generated, by kind. */
function computedVerb({ served: { resource }, info }: Target): Verb<DispatchParts> {
  if (resource.kind === 'ComponentStatus') return info.verb === 'get' ? getComponentStatus : listComponentStatuses
  return info.verb === 'get' ? getMetrics : listMetrics
}

function virtualVerb(target: Target): Verb<DispatchParts> {
  const { answeredBy } = target.served.resource
  if (answeredBy === undefined) throw unavailable(target)
  return answers[answeredBy]
}

/** A POST is for a collection, or for a subresource that accepts it; PUT and PATCH are for one object. */
function fitsPath(verb: ResourceVerb, { name, subresource }: ResourceInfo): boolean {
  if (verb === 'create') return (name === '') === (subresource === '')
  return (verb !== 'update' && verb !== 'patch') || name !== ''
}

function unavailable({ served, subresource, info }: Target): Error {
  const what = subresource === undefined ? served.resource.plural : `${served.resource.plural}/${subresource.name}`
  return failed(501, '', `${info.verb} of ${what} is not available in this server`)
}
