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
  type Group,
  methodNotAllowed,
  openApi3Index,
  printApiVersion,
} from '@orch/core'
import { type Context, Hono } from 'hono'
import { dispatch } from '../dispatch.ts'
import { explanationRoute } from '../explain/route.ts'
import { type Dump, dump, dumps } from '../flow-control/dump.ts'
import type { GatewayParts } from '../parts.ts'
import type { GatewayRequest } from '../request.ts'
import { commonHeaders, nothingAt, pageNotFound, respondObject, send, sendBytes } from '../respond.ts'
import { checkNames, healthRoute } from './health.ts'
import { keysPath, keysRoute, providerRoute } from './issuer.ts'
import { type OpenApiFile, openApi2Files, openApi3File, openApi3FileNames } from './openapi-files.ts'

/** What handlers find in hono's environment. */
export interface Environment {
  readonly Bindings: { readonly request: GatewayRequest; readonly parts: GatewayParts }
}

/** Stands for an answer that went to the exchange directly. */
const answered: Response = new Response(null)

type Handler = (request: GatewayRequest, parts: GatewayParts, context: Context<Environment>) => void | Promise<void>

/** All paths. Resources have one handler and no middleware, as nearly every request is theirs. */
export function createRoutes(): Hono<Environment> {
  // The path has been decoded already, and may have been behind a prefix. A slash at its end is forgiven.
  const app = new Hono<Environment>({ getPath: (_request, options) => withoutLastSlash(options?.env?.request.path as string) })
  const route = (path: string, handler: Handler) =>
    app.all(path, (context): Response | Promise<Response> => {
      const done = handler(context.env.request, context.env.parts, context)
      return done === undefined ? answered : (done as Promise<void>).then((): Response => answered)
    })
  route('/api', onlyRead(coreVersions))
  route('/apis', onlyRead(groups))
  route('/apis/:group', onlyRead(oneGroup))
  route('/api/:version', onlyRead(groupVersion))
  route('/apis/:group/:version', onlyRead(groupVersion))
  route('/api/:version/:rest{.+}', resource)
  route('/apis/:group/:version/:rest{.+}', resource)
  route('/version', onlyRead(version))
  route('/metrics', metrics)
  route('/.well-known/openid-configuration', onlyRead(providerRoute))
  route(keysPath, onlyRead(keysRoute))
  route('/openapi/v2', openApi2)
  route('/openapi/v3', openApi3)
  route('/openapi/v3/:name{.+}', openApi3One)
  route(
    '/debug/requests/:id',
    onlyRead((request, parts, context) => explanationRoute(request, parts, context.req.param('id') ?? '')),
  )
  for (const which of dumps) route(`${dumpFolder}/${which}`, onlyRead(flowControlRoute(which)))
  for (const probe of ['healthz', 'livez', 'readyz'] as const) {
    route(`/${probe}`, healthRoute(probe))
    route(`/${probe}/:check{.+}`, healthRoute(probe))
  }
  route('/', paths)
  route('*', nothing)
  // What is thrown becomes an answer in one place, which is not here.
  app.onError((error) => {
    throw error
  })
  return app
}

/** Documents are read; there is nothing to be done with them. */
function onlyRead(handler: Handler): Handler {
  return (request, parts, context) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      request.allowedMethods = ['GET', 'HEAD']
      throw methodNotAllowed()
    }
    return handler(request, parts, context)
  }
}

function withoutLastSlash(path: string): string {
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path
}

const resource: Handler = (request, parts) => {
  if (request.info.kind === 'path') throw nothingAt(request.path, parts)
  return dispatch(request, request.info, parts)
}

const coreVersions: Handler = (request, parts) => {
  const address = request.exchange.header('host') ?? parts.state.address
  return (
    respondAggregated(request, parts, [{ name: '', versions: ['v1'] }]) ?? respondObject(request, 200, apiVersionsDocument(address), parts)
  )
}

const groups: Handler = (request, parts) =>
  respondAggregated(request, parts, parts.catalogue.groups) ??
  respondObject(request, 200, apiGroupListDocument(parts.catalogue.groups), parts)

const oneGroup: Handler = (request, parts, context) => {
  const name = context.req.param('group')
  const group = parts.catalogue.groups.find((one) => one.name === name)
  if (group === undefined) throw pageNotFound()
  return respondObject(request, 200, apiGroupDocument(group), parts)
}

const groupVersion: Handler = (request, parts, context) => {
  const group = context.req.param('group') ?? ''
  const name = context.req.param('version') as string
  const resources = parts.catalogue.inGroupVersion(group, name)
  if (resources.length === 0) throw nothingAt(request.path, parts)
  return respondObject(request, 200, apiResourceListDocument(printApiVersion(group, name), resources), parts)
}

const done = Promise.resolve()

/** The aggregated form, where the client asks for one that is offered, before any plain clause. */
function respondAggregated(
  request: GatewayRequest,
  { catalogue, names }: GatewayParts,
  list: readonly Group[],
): void | Promise<void> | undefined {
  const asked = aggregatedVersionOf(request.exchange.header('accept') ?? '', aggregatedGroup(names))
  if (asked === undefined) return undefined
  const document = aggregatedDocument(names, asked, list, (group, version) => catalogue.inGroupVersion(group, version))
  return (
    sendBytes(
      request,
      200,
      { ...commonHeaders(request, aggregatedMediaType(names, asked)), vary: 'Accept' },
      Buffer.from(JSON.stringify(document)),
    ) ?? done
  )
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

const version: Handler = (request, parts) => respondObject(request, 200, parts.options.version, parts)

const metrics: Handler = async (request, parts) => {
  const bytes = await parts.metrics.bytes()
  await sendBytes(request, 200, commonHeaders(request, parts.metrics.contentType), bytes)
}

const dumpFolder = '/debug/api_priority_and_fairness'

function flowControlRoute(which: Dump): Handler {
  return (request, { flowControl }) => {
    if (flowControl === undefined) throw pageNotFound()
    const text = dump(flowControl, which, request.query.get('includeRequestDetails') !== undefined)
    return sendBytes(request, 200, commonHeaders(request, 'text/plain; charset=utf-8'), Buffer.from(text))
  }
}

const protobuf2 = 'application/com.github.proto-openapi.spec.v2'

/** The whole document in Protobuf for clients that ask for it, else in JSON. Made at the first question. */
const openApi2: Handler = async (request, parts) => {
  const accept = request.exchange.header('accept') ?? '*/*'
  const wantsProtobuf = accept.includes(protobuf2)
  if (!wantsProtobuf && !/(?:^|,)\s*(?:application\/json|application\/\*|\*\/\*)/.test(accept)) {
    return send(request, 406, commonHeaders(request, 'text/plain; charset=utf-8'), '')
  }
  const { json, encoded } = openApi2Files(parts)
  // A type with an @ in it, as the client spells it, breaks the client when it comes back.
  const type = wantsProtobuf ? 'application/octet-stream' : 'application/json'
  const file = await (wantsProtobuf ? encoded() : json())
  return respondFile(request, { ...file, type })
}

const openApi3: Handler = async (request, parts) => {
  const urls = new Map<string, string>()
  for (const name of openApi3FileNames(parts)) urls.set(name, openApi3Url(parts, name, (await openApi3File(parts, name))?.hash ?? ''))
  return respondObject(
    request,
    200,
    openApi3Index([...urls.keys()], (name) => urls.get(name) ?? ''),
    parts,
  )
}

function openApi3Url({ options }: GatewayParts, name: string, hash: string): string {
  return `${options.pathPrefix ?? ''}/openapi/v3/${name}?hash=${hash}`
}

/** With the right hash an answer may be kept for ever; a wrong one is sent to the right one. */
const openApi3One: Handler = async (request, parts, context) => {
  const name = context.req.param('name') as string
  const file = await openApi3File(parts, name)
  if (file === undefined) throw pageNotFound()
  const hash = request.query.get('hash')
  if (hash !== undefined && hash !== '' && hash !== file.hash) {
    const headers = commonHeaders(request, 'text/plain; charset=utf-8')
    return send(request, 301, { ...headers, location: openApi3Url(parts, name, file.hash) }, '')
  }
  const isKept = hash === file.hash
  return respondFile(request, { ...file, type: 'application/json' }, isKept ? keptHeaders(parts.clock.now()) : {})
}

const yearMs = 365 * 24 * 60 * 60 * 1000

function keptHeaders(nowMs: number): Record<string, string> {
  return { 'cache-control': 'public, immutable', expires: new Date(nowMs + yearMs).toUTCString() }
}

function respondFile(
  request: GatewayRequest,
  { bytes, hash, madeMs, type }: OpenApiFile & { type: string },
  extra: Record<string, string> = {},
): void | Promise<void> {
  const headers = {
    ...commonHeaders(request, type),
    etag: `"${hash}"`,
    'last-modified': new Date(madeMs).toUTCString(),
    vary: 'Accept',
    ...extra,
  }
  if (request.exchange.header('if-none-match') === `"${hash}"`) return send(request, 304, headers, '')
  return sendBytes(request, 200, headers, bytes)
}

/** The list of paths, in the order of their letters. */
const paths: Handler = (request, parts) => {
  const known = [
    ...(parts.authentication.issuer === undefined ? [] : ['/.well-known/openid-configuration', keysPath]),
    '/api',
    '/api/v1',
    '/apis',
    ...parts.catalogue.groups.flatMap(({ name, versions }) => [`/apis/${name}`, ...versions.map((one) => `/apis/${name}/${one}`)]),
    ...(parts.flowControl === undefined ? [] : dumps.map((which) => `${dumpFolder}/${which}`)),
    ...(['healthz', 'livez', 'readyz'] as const).flatMap((probe) => [
      `/${probe}`,
      ...checkNames(probe, parts).map((name) => `/${probe}/${name}`),
    ]),
    '/metrics',
    '/openapi/v2',
    '/openapi/v3',
    '/version',
  ]
  return respondObject(request, 200, { paths: known.sort() }, parts)
}

const nothing: Handler = (request, parts) => {
  throw nothingAt(request.path, parts)
}
