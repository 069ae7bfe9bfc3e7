import type { Catalogue, Group } from '@orch/core/catalogue'
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
import { nothingAt, pageNotFound, type RespondParts } from '../respond.ts'
import type { GatewayState } from '../state.ts'
import { BytesResponse, type DocumentHandler, objectResponse, type RouteContext } from './document.ts'

/** What discovery needs. */
export type DiscoveryParts = RespondParts & {
  readonly catalogue: Catalogue
  readonly state: Pick<GatewayState, 'address'>
}

/** `/api`: versions of the core group. */
export const coreVersions: DocumentHandler<DiscoveryParts> = (context) => {
  const { request, parts } = context.env
  const address = request.exchange.header('host') ?? parts.state.address
  return aggregatedResponse(context, [{ name: '', versions: ['v1'] }]) ?? objectResponse(context, apiVersionsDocument(address))
}

/** `/apis`: the named groups. */
export const groups: DocumentHandler<DiscoveryParts> = (context) => {
  const list = context.env.parts.catalogue.groups
  return aggregatedResponse(context, list) ?? objectResponse(context, apiGroupListDocument(list))
}

/** `/apis/<group>`: one group with its versions. */
export const oneGroup: DocumentHandler<DiscoveryParts> = (context) => {
  const name = context.req.param('group')
  const group = context.env.parts.catalogue.groups.find((one) => one.name === name)
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

/** The aggregated form, where the client asks for one that is offered, before any plain clause. */
function aggregatedResponse({ env: { request, parts } }: RouteContext<DiscoveryParts>, list: readonly Group[]): Response | undefined {
  const { catalogue, names } = parts
  const asked = aggregatedVersionOf(request.exchange.header('accept') ?? '', aggregatedGroup(names))
  if (asked === undefined) return undefined
  const document = aggregatedDocument(names, asked, list, (group, version) => catalogue.inGroupVersion(group, version))
  return new BytesResponse(Buffer.from(JSON.stringify(document)), { 'content-type': aggregatedMediaType(names, asked), vary: 'Accept' })
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
