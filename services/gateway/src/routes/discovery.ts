import { createHash } from 'node:crypto'
import type { Catalogue } from '@orch/core/catalogue'
import {
  aggregatedDocument,
  aggregatedGroup,
  aggregatedMediaType,
  aggregatedVersion,
  apiGroupDocument,
  apiGroupListDocument,
  apiResourceListDocument,
  apiVersionsDocument,
} from '@orch/core/discovery'
import { memo } from '@orch/core/memo'
import { printApiVersion } from '@orch/core/meta'
import type { DiscoveryView } from '../aggregation/discovery-view.ts'
import { nothingAt, pageNotFound, type RespondParts } from '../request/respond.ts'
import type { GatewayState } from '../server/state.ts'
import { requireObjectForm } from './accepted.ts'
import { aggregatedBytes, groupListBytes } from './discovery-pieces.ts'
import { bytesResponse, type DocumentHandler, objectResponse, printedResponse, type RouteContext } from './document.ts'

/** The dependencies of discovery. */
export type DiscoveryParts = RespondParts & {
  readonly catalogue: Catalogue
  readonly state: Pick<GatewayState, 'address'>
  /** The additions of APIServices. */
  readonly discovery: Pick<DiscoveryView, 'groups' | 'aggregated'>
}

/** `/api`: versions of the core group. */
export const coreVersions: DocumentHandler<DiscoveryParts> = (context) => {
  const { request, parts } = context.env
  const address = request.exchange.header('host') ?? parts.state.address
  if (!asksAggregated(context)) {
    requireObjectForm(context.env)
    return objectResponse(context, apiVersionsDocument(address))
  }
  const { catalogue, names } = parts
  const core = [{ name: '', versions: ['v1'] }]
  const document = aggregatedDocument(names, core, (group, version) => catalogue.inGroupVersion(group, version))
  return aggregatedResponse(context, Buffer.from(JSON.stringify(document)))
}

/** `/apis`: the named groups. */
export const groups: DocumentHandler<DiscoveryParts> = (context) => {
  const { request, parts } = context.env
  const { catalogue, discovery } = parts
  if (asksAggregated(context)) return aggregatedResponse(context, discovery.aggregated(catalogue) ?? aggregatedBytes(catalogue))
  requireObjectForm(context.env)
  const withOthers = discovery.groups(catalogue)
  if (withOthers !== undefined) return objectResponse(context, apiGroupListDocument(withOthers))
  if (request.plainFormat === 'protobuf') return objectResponse(context, apiGroupListDocument(catalogue.groups))
  return printedResponse(context, groupListBytes(catalogue))
}

/** `/apis/<group>`: one group with its versions. */
export const oneGroup: DocumentHandler<DiscoveryParts> = (context) => {
  const name = context.req.param('group') ?? ''
  const { catalogue, discovery } = context.env.parts
  const others = discovery.groups(catalogue)
  const group = others === undefined ? catalogue.group(name) : others.find((one) => one.name === name)
  if (group === undefined) throw pageNotFound()
  requireObjectForm(context.env)
  return objectResponse(context, apiGroupDocument(group))
}

/** `/apis/<group>/<version>` and `/api/<version>`: the resources of a version. */
export const groupVersion: DocumentHandler<DiscoveryParts> = (context) => {
  const { request, parts } = context.env
  const group = context.req.param('group') ?? ''
  const name = context.req.param('version') ?? ''
  const resources = parts.catalogue.inGroupVersion(group, name)
  if (resources.length === 0) throw nothingAt(request.path, parts)
  requireObjectForm(context.env)
  return objectResponse(context, apiResourceListDocument(printApiVersion(group, name), resources))
}

function aggregatedResponse({ env: { request, parts } }: RouteContext<DiscoveryParts>, bytes: Uint8Array): Response {
  const headers = { 'content-type': aggregatedMediaType(parts.names), vary: 'Accept', etag: etagOf(bytes) }
  const isKnown = request.exchange.header('if-none-match') === headers.etag
  return isKnown ? new Response(null, { status: 304, headers }) : bytesResponse(bytes, headers)
}

/** The tag of a document. */
const etagOf = memo((bytes: Uint8Array) => `"${createHash('sha512').update(bytes).digest('hex').toUpperCase()}"`)

/** True if the client asks for the aggregated form before any plain clause. */
function asksAggregated({ env: { request, parts } }: RouteContext<DiscoveryParts>): boolean {
  const wanted = [`g=${aggregatedGroup(parts.names)}`, `v=${aggregatedVersion}`, 'as=APIGroupDiscoveryList']
  for (const clause of (request.exchange.header('accept') ?? '').split(',')) {
    const [type = '', ...parameters] = clause.split(';').map((part) => part.trim())
    const isPlain = !parameters.some((parameter) => parameter.startsWith('as='))
    if (isPlain && (type === 'application/json' || type === '*/*')) return false
    if (type === 'application/json' && wanted.every((parameter) => parameters.includes(parameter))) return true
  }
  return false
}
