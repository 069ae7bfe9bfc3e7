import { createHash } from 'node:crypto'
import type { Catalogue } from '@orch/core/catalogue'
import {
  type AggregatedVersion,
  aggregatedDocument,
  aggregatedGroup,
  aggregatedMediaType,
  aggregatedVersions,
  apiGroupDocument,
  apiGroupListDocument,
  apiResourceListDocument,
  apiVersionsDocument,
} from '@orch/core/discovery'
import { printApiVersion } from '@orch/core/meta'
import type { DiscoveryView } from '../aggregation/discovery-view.ts'
import { nothingAt, pageNotFound, type RespondParts } from '../respond.ts'
import type { GatewayState } from '../state.ts'
import { aggregatedBytes, groupListBytes } from './discovery-pieces.ts'
import { BytesResponse, type DocumentHandler, objectResponse, printedResponse, type RouteContext } from './document.ts'

/** What discovery needs. */
export type DiscoveryParts = RespondParts & {
  readonly catalogue: Catalogue
  readonly state: Pick<GatewayState, 'address'>
  /** What APIServices add. */
  readonly discovery: Pick<DiscoveryView, 'groups' | 'aggregated'>
}

/** `/api`: versions of the core group. */
export const coreVersions: DocumentHandler<DiscoveryParts> = (context) => {
  const { request, parts } = context.env
  const address = request.exchange.header('host') ?? parts.state.address
  const asked = aggregatedOf(context)
  if (asked === undefined) return objectResponse(context, apiVersionsDocument(address))
  const { catalogue, names } = parts
  const core = [{ name: '', versions: ['v1'] }]
  const document = aggregatedDocument(names, asked, core, (group, version) => catalogue.inGroupVersion(group, version))
  return aggregatedResponse(context, asked, Buffer.from(JSON.stringify(document)))
}

/** `/apis`: the named groups. */
export const groups: DocumentHandler<DiscoveryParts> = (context) => {
  const { request, parts } = context.env
  const { catalogue, discovery } = parts
  const asked = aggregatedOf(context)
  if (asked !== undefined) {
    return aggregatedResponse(context, asked, discovery.aggregated(catalogue, asked) ?? aggregatedBytes(catalogue, asked))
  }
  const withOthers = discovery.groups(catalogue)
  if (withOthers !== undefined) return objectResponse(context, apiGroupListDocument(withOthers))
  if (request.plainFormat === 'protobuf') return objectResponse(context, apiGroupListDocument(catalogue.groups))
  return printedResponse(context, groupListBytes(catalogue))
}

/** `/apis/<group>`: one group with its versions. */
export const oneGroup: DocumentHandler<DiscoveryParts> = (context) => {
  const name = context.req.param('group')
  const { catalogue, discovery } = context.env.parts
  const group = (discovery.groups(catalogue) ?? catalogue.groups).find((one) => one.name === name)
  if (group === undefined) throw pageNotFound()
  return objectResponse(context, apiGroupDocument(group))
}

/** `/apis/<group>/<version>` and `/api/<version>`: the resources of a version. */
export const groupVersion: DocumentHandler<DiscoveryParts> = (context) => {
  const { request, parts } = context.env
  const group = context.req.param('group') ?? ''
  const name = context.req.param('version') ?? ''
  const resources = parts.catalogue.inGroupVersion(group, name)
  if (resources.length === 0) throw nothingAt(request.path, parts)
  return objectResponse(context, apiResourceListDocument(printApiVersion(group, name), resources))
}

/** The aggregated form that the client asks for, where it is offered, before any plain clause. */
function aggregatedOf({ env: { request, parts } }: RouteContext<DiscoveryParts>): AggregatedVersion | undefined {
  return aggregatedVersionOf(request.exchange.header('accept') ?? '', aggregatedGroup(parts.names))
}

function aggregatedResponse(
  { env: { request, parts } }: RouteContext<DiscoveryParts>,
  version: AggregatedVersion,
  bytes: Uint8Array,
): Response {
  const headers = { 'content-type': aggregatedMediaType(parts.names, version), vary: 'Accept', etag: etagOf(bytes) }
  const isKnown = request.exchange.header('if-none-match') === headers.etag
  return isKnown ? new Response(null, { status: 304, headers }) : new BytesResponse(bytes, headers)
}

const etags = new WeakMap<Uint8Array, string>()

function etagOf(bytes: Uint8Array): string {
  const known = etags.get(bytes) ?? `"${createHash('sha512').update(bytes).digest('hex').toUpperCase()}"`
  etags.set(bytes, known)
  return known
}

function aggregatedVersionOf(accept: string, group: string): AggregatedVersion | undefined {
  for (const clause of accept.split(',')) {
    const [type = '', ...parameters] = clause.split(';').map((part) => part.trim())
    if (!parameters.some((parameter) => parameter.startsWith('as='))) {
      if (type === 'application/json' || type === '*/*') return undefined
      continue
    }
    const asked = aggregatedVersions.find((version) => parameters.includes(`v=${version}`))
    const isMeant = type === 'application/json' && parameters.includes(`g=${group}`) && parameters.includes('as=APIGroupDiscoveryList')
    if (isMeant && asked !== undefined) return asked
  }
  return undefined
}
