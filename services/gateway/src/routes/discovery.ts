import { createHash } from 'node:crypto'
import type { Catalogue, Group } from '@orch/core/catalogue'
import { jsonToCbor } from '@orch/core/cbor'
import {
  aggregatedDocument,
  aggregatedGroup,
  aggregatedMediaType,
  aggregatedVersionsAt,
  apiGroupDocument,
  apiGroupListDocument,
  apiResourceListDocument,
  apiVersionsDocument,
} from '@orch/core/discovery'
import { getOrMake, memo } from '@orch/core/memo'
import { printApiVersion } from '@orch/core/meta'
import { printAggregatedProtobuf } from '@orch/core/protobuf'
import { printYaml } from '@orch/core/yaml'
import type { DiscoveryView } from '../aggregation/discovery-view.ts'
import { type Format, mediaTypeOfFormat, nothingAt, pageNotFound, type RespondParts } from '../request/index.ts'
import type { GatewayState } from '../server/state.ts'
import { requireObjectForm, requireRoute } from './accepted.ts'
import {
  bytesResponse,
  type DocumentHandler,
  type DocumentResponse,
  jsonResponse,
  objectResponse,
  printedResponse,
  type RouteContext,
} from './document.ts'

/** The dependencies of discovery. */
export type DiscoveryParts = RespondParts & {
  readonly catalogue: Catalogue
  readonly state: Pick<GatewayState, 'address'>
  /** The additions of APIServices. */
  readonly discovery: Pick<DiscoveryView, 'groups' | 'aggregated'>
}

/** `/api`: versions of the core group. */
export const coreVersions: DocumentHandler<DiscoveryParts> = (context) => {
  const { request, parts } = context
  const address = request.exchange.header('host') ?? parts.state.address
  const form = aggregatedForm(context)
  if (form === undefined) {
    requireRoute(context)
    requireObjectForm(context)
    return objectResponse(context, apiVersionsDocument(address))
  }
  const { catalogue } = parts
  const core = [{ name: '', versions: ['v1'] }]
  const document = aggregatedDocument(catalogue, core, (group, version) => catalogue.inGroupVersion(group, version))
  return aggregatedResponse(context, Buffer.from(JSON.stringify(document)), form)
}

/** `/apis`: the named groups. */
export const groups: DocumentHandler<DiscoveryParts> = (context) => {
  const { request, parts } = context
  const { catalogue, discovery } = parts
  const form = aggregatedForm(context)
  if (form !== undefined) return aggregatedResponse(context, discovery.aggregated(catalogue) ?? aggregatedBytes(catalogue), form)
  requireObjectForm(context)
  const withOthers = discovery.groups(catalogue)
  if (withOthers !== undefined) return objectResponse(context, apiGroupListDocument(withOthers))
  if (request.plainFormat === 'protobuf') return objectResponse(context, apiGroupListDocument(catalogue.groups))
  return printedResponse(context, groupListBytes(catalogue))
}

/** `/apis/<group>`: one group with its versions. */
export const oneGroup: DocumentHandler<DiscoveryParts> = (context) => {
  const name = context.param('group')
  const { catalogue, discovery } = context.parts
  const others = discovery.groups(catalogue)
  const group = others === undefined ? catalogue.group(name) : others.find((one) => one.name === name)
  if (group === undefined) throw pageNotFound()
  requireObjectForm(context)
  return objectResponse(context, apiGroupDocument(group))
}

/** `/apis/<group>/<version>` and `/api/<version>`: the resources of a version. */
export const groupVersion: DocumentHandler<DiscoveryParts> = (context) => {
  const { request, parts } = context
  const group = context.param('group')
  const name = context.param('version')
  const resources = parts.catalogue.inGroupVersion(group, name)
  if (resources.length === 0) throw nothingAt(request.path, parts)
  const isBuiltIn = resources.some(({ definedBy }) => definedBy === undefined)
  if (isBuiltIn) requireRoute(context)
  requireObjectForm(context)
  const document = apiResourceListDocument(printApiVersion(group, name), resources, storageHashOf)
  // As in kube-apiserver, only documents of built-in groups have a CBOR form, which clients of custom groups do not read.
  return !isBuiltIn && request.plainFormat === 'cbor' ? jsonResponse(document) : objectResponse(context, document)
}

/** As in kube-apiserver: the first eight bytes of the hash. */
function storageHashOf(type: string): string {
  return createHash('sha256').update(type).digest().subarray(0, 8).toString('base64')
}

function aggregatedResponse({ request, parts }: RouteContext<DiscoveryParts>, newest: Uint8Array, form: AggregatedForm): DocumentResponse {
  const { format, version } = form
  const json = version === 'v2beta1' ? betaOf(newest) : newest
  const type = aggregatedMediaType(parts.names, mediaTypeOfFormat(format, parts.names), version)
  const headers = { 'cache-control': 'public', 'content-type': type, vary: 'Accept', etag: etagOf(json) }
  const isKnown = request.exchange.header('if-none-match') === headers.etag
  return isKnown ? { status: 304, headers } : bytesResponse(formsOf(json)(format), headers)
}

/** The document as its beta, which differs in the name of its version alone. */
const betaOf = memo((json: Uint8Array) => Buffer.from(Buffer.from(json).toString().replace('/v2"', '/v2beta1"')))

/** The document in each format, created at its first use. */
const formsOf = memo((json: Uint8Array) => {
  const made = new Map<Format, Uint8Array>([['json', json]])
  return (format: Format): Uint8Array => getOrMake(made, format, () => printedAs(format, json))
})

function printedAs(format: Format, json: Uint8Array): Uint8Array {
  if (format === 'cbor') return jsonToCbor(json)
  const object = JSON.parse(Buffer.from(json).toString())
  return format === 'yaml' ? Buffer.from(printYaml(object)) : printAggregatedProtobuf(object)
}

/** The ETag of a document. */
const etagOf = memo((bytes: Uint8Array) => `"${createHash('sha512').update(bytes).digest('hex').toUpperCase()}"`)

type AggregatedForm = { readonly format: Format; readonly version: string }

/** The aggregated form that the client prefers to a plain one; undefined for the plain form. */
function aggregatedForm({ request, parts }: RouteContext<DiscoveryParts>): AggregatedForm | undefined {
  const { names, level } = parts.catalogue
  const wanted = [`g=${aggregatedGroup(names)}`, 'as=APIGroupDiscoveryList']
  for (const clause of (request.exchange.header('accept') ?? '').split(',')) {
    const [type = '', ...parameters] = clause.split(';').map((part) => part.trim())
    const format = formats.find((one) => mediaTypeOfFormat(one, names) === type && (one !== 'cbor' || request.hasCbor))
    const isPlain = !parameters.some((parameter) => parameter.startsWith('as='))
    if (isPlain && (format !== undefined || type === '*/*')) return undefined
    const version = aggregatedVersionsAt(level).find((one) => parameters.includes(`v=${one}`))
    if (format !== undefined && version !== undefined && wanted.every((parameter) => parameters.includes(parameter)))
      return { format, version }
  }
  return undefined
}

const formats: readonly Format[] = ['json', 'yaml', 'protobuf', 'cbor']

/** `/apis` as JSON. The entry of a group is printed once while the group is unchanged. */
export const groupListBytes = memo((catalogue: Catalogue) => joined(catalogue.groups, apiGroupListDocument([]), entryOf))

/** The aggregated form of `/apis` as JSON, made as `groupListBytes`. */
export const aggregatedBytes = memo((catalogue: Catalogue) =>
  joined(catalogue.groups, aggregated(catalogue, []), (group) => itemOf(group, catalogue)),
)

/** The entry of a group in the list of groups. */
const entryOf = memo((group: Group) => printed(apiGroupListDocument([group]).groups[0]))

/** The entry of a group in the aggregated form. */
const itemOf = memo((group: Group, catalogue: Catalogue) => printed(aggregated(catalogue, [group]).items[0]))

function aggregated(catalogue: Catalogue, groups: readonly Group[]) {
  return aggregatedDocument(catalogue, groups, (group, one) => catalogue.inGroupVersion(group, one))
}

function printed(entry: object | undefined): Uint8Array {
  return Buffer.from(JSON.stringify(entry))
}

const comma = Buffer.from(',')
const back = Buffer.from(']}')

/** A document that ends with a list, with one piece for each group. */
function joined(groups: readonly Group[], empty: object, pieceOf: (group: Group) => Uint8Array): Uint8Array {
  const front = Buffer.from(JSON.stringify(empty).slice(0, -back.length))
  return Buffer.concat([front, ...groups.flatMap((group, index) => (index === 0 ? [pieceOf(group)] : [comma, pieceOf(group)])), back])
}
