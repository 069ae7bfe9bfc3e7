import type { Catalogue } from '@orch/core/catalogue'
import { memo } from '@orch/core/memo'
import type { Names } from '@orch/core/names'
import { Hono, type MiddlewareHandler } from 'hono'
import type { CustomResources } from '../custom-resources/custom-resources.ts'
import { type Dump, dump, dumps } from '../flow-control/dump.ts'
import type { FlowControl } from '../flow-control/flow-control.ts'
import type { GatewayRequest } from '../request/request.ts'
import { nothingAt, pageNotFound } from '../request/respond.ts'
import type { HealthResults } from '../server/health-results.ts'
import type { VersionInfo } from '../server/version-info.ts'
import type { ExplainParts } from '../steps/explain.ts'
import { onlyAs } from './accepted.ts'
import { type AdmissionRouteParts, admissionRoute } from './admission.ts'
import { type ConsoleRouteParts, ticketRoute } from './console.ts'
import { coreVersions, type DiscoveryParts, groups, groupVersion, oneGroup } from './discovery.ts'
import { bytesResponse, type DocumentHandler, type Environment, jsonResponse, plainText, readOnly } from './document.ts'
import { explanationRoute } from './explain.ts'
import { checkNames, type HealthParts, healthCheckRoute, healthRoute } from './health.ts'
import { type IssuerParts, keysPath, keysRoute, keysType, providerRoute } from './issuer.ts'
import { metricsResponse, type PrintedMetrics } from './metrics.ts'
import { type ObjectCountsParts, objectCountsRoute } from './object-counts.ts'
import { notModified, type OpenApiRouteParts, openApi2, openApi3, openApi3One } from './openapi.ts'
import { type PprofParts, pprofIndexRoute, profileRoute } from './pprof.ts'
import { type RequestRouteParts, requestRoute } from './request.ts'
import { type TimelineRouteParts, timelineRoute } from './timeline.ts'
import { flagzRoute, statuszRoute, type ZPageParts } from './zpages.ts'

/** The dependencies of the routes. */
type RouteParts = AdmissionRouteParts &
  ConsoleRouteParts &
  DiscoveryParts &
  ExplainParts &
  HealthParts &
  IssuerParts &
  ObjectCountsParts &
  OpenApiRouteParts &
  PprofParts &
  RequestRouteParts &
  TimelineRouteParts &
  ZPageParts & {
    readonly catalogue: Catalogue
    readonly customResources: Pick<CustomResources, 'upToDate'>
    readonly version: VersionInfo
    readonly metrics: PrintedMetrics
    readonly flowControl: FlowControl | undefined
    readonly healthResults: HealthResults
  }

/** The part of a request for hono and its middleware. A real `Request` would cost more than the rest of the routing. */
export class RoutedRequest {
  /** A HEAD of a document is a GET whose body is not sent, so that the length of the body is known. */
  readonly method: string
  readonly url: string
  readonly #request: GatewayRequest

  constructor(request: GatewayRequest) {
    const { method, path } = request
    this.method = method === 'HEAD' ? 'GET' : method
    this.url = path
    this.#request = request
  }

  get headers(): Pick<Headers, 'get'> {
    const { exchange } = this.#request
    return { get: (name) => exchange.header(name.toLowerCase()) ?? null }
  }
}

/** The routes of a profile, which servers of one process share. */
export const routesOf = memo(createRoutes)

/** The paths of documents: routes with a Response each, and middleware if applicable. Resources are not routed here. */
function createRoutes({ ownPath }: Pick<Names, 'ownPath'>): Hono<Environment<RouteParts>> {
  // The path is already decoded, without a prefix. Below some folders a trailing slash is ignored.
  const app = new Hono<Environment<RouteParts>>({ getPath: (_request, options) => withoutLastSlash(options?.env?.request.path ?? '') })
  app.all('/api', readOnly, coreVersions)
  // The lists of groups accept any method, as in kube-apiserver.
  app.all('/apis', complete, groups)
  app.all('/apis/:group', complete, oneGroup)
  app.all('/api/:version', groupVersion)
  app.all('/apis/:group/:version', complete, groupVersion)
  app.all('/version', readOnly, onlyAs('application/json'), ({ env: { parts } }) => jsonResponse(parts.version))
  app.all('/metrics', metrics)
  app.all('/metrics/slis', healthResults)
  app.all('/.well-known/openid-configuration', readOnly, onlyAs('application/json'), providerRoute)
  app.all(keysPath, readOnly, onlyAs(keysType), keysRoute)
  app.all('/openapi/v2', complete, notModified, openApi2)
  app.all('/openapi/v3', complete, openApi3)
  app.all('/openapi/v3/:name{.+}', complete, notModified, openApi3One)
  app.all('/statusz', readOnly, statuszRoute(shownPaths))
  app.all('/flagz', readOnly, flagzRoute)
  app.all('/debug/pprof', readOnly, pprofIndexRoute)
  for (const which of ['profile', 'heap'] as const) app.all(`/debug/pprof/${which}`, readOnly, profileRoute(which))
  app.all('/console/ticket', ticketRoute)
  app.all('/debug/requests/:id', readOnly, explanationRoute)
  app.all(`${ownPath}/timeline`, readOnly, complete, timelineRoute)
  app.all(`${ownPath}/requests/:id`, readOnly, requestRoute)
  app.all(`${ownPath}/objects`, readOnly, complete, objectCountsRoute)
  app.all(`${ownPath}/admission`, readOnly, admissionRoute)
  for (const which of dumps) app.all(`${dumpFolder}/${which}`, readOnly, flowControlRoute(which))
  for (const probe of ['healthz', 'livez', 'readyz'] as const) {
    app.all(`/${probe}`, healthRoute(probe))
    app.all(`/${probe}/:check{.+}`, healthCheckRoute(probe))
  }
  app.all('/', complete, paths)
  app.notFound(({ env: { request, parts } }) => {
    throw nothingAt(request.path, parts)
  })
  // Errors become answers in one place, which is not here.
  app.onError((error) => {
    throw error
  })
  return app
}

const ignoresLastSlash = /^\/(?:apis?|version|\.well-known|openid|debug)\//

function withoutLastSlash(path: string): string {
  return path.endsWith('/') && ignoresLastSlash.test(path) ? path.slice(0, -1) : path
}

/** Discovery waits until all served resources are known, so that a client that has seen an established definition finds it here. */
const complete: MiddlewareHandler<Environment<RouteParts>> = async ({ env: { parts } }, next) => {
  await parts.customResources.upToDate()
  await next()
}

const metrics: DocumentHandler<RouteParts> = async ({ env: { request, parts } }) => metricsResponse(parts.metrics, request, parts.level)

/** The results of health checks, from level 1.27 on. */
const healthResults: DocumentHandler<RouteParts> = async ({ env: { request, parts } }) => {
  if (!parts.isGateOn('ComponentSLIs')) throw nothingAt(request.path, parts)
  return metricsResponse(parts.healthResults, request, parts.level)
}

const dumpFolder = '/debug/api_priority_and_fairness'

function flowControlRoute(which: Dump): DocumentHandler<RouteParts> {
  return ({ env: { request, parts } }) => {
    if (parts.flowControl === undefined) throw pageNotFound()
    const text = dump(parts.flowControl, which, request.query.get('includeRequestDetails') !== undefined)
    return bytesResponse(Buffer.from(text), { 'content-type': plainText })
  }
}

/** The list of paths in alphabetical order. */
const paths: DocumentHandler<RouteParts> = ({ env: { parts } }) => jsonResponse({ paths: shownPaths(parts) })

function shownPaths(parts: RouteParts): string[] {
  return [
    ...(parts.authentication.issuer === undefined ? [] : ['/.well-known/openid-configuration', keysPath]),
    '/api',
    '/api/v1',
    '/apis',
    ...(parts.discovery.groups(parts.catalogue) ?? parts.catalogue.groups).flatMap(({ name, versions }) => [
      `/apis/${name}`,
      ...versions.map((one) => `/apis/${name}/${one}`),
    ]),
    ...(parts.flowControl === undefined ? [] : dumps.map((which) => `${dumpFolder}/${which}`)),
    ...(['healthz', 'livez', 'readyz'] as const).flatMap((probe) => [
      `/${probe}`,
      ...checkNames(probe, parts).map((name) => `/${probe}/${name}`),
    ]),
    '/metrics',
    ...(parts.isGateOn('ComponentSLIs') ? ['/metrics/slis'] : []),
    '/openapi/v2',
    '/openapi/v3',
    ...(parts.isGateOn('ComponentStatusz') ? ['/statusz'] : []),
    ...(parts.isGateOn('ComponentFlagz') && parts.flags !== undefined ? ['/flagz'] : []),
    ...(parts.profilers === undefined ? [] : ['/debug/pprof', '/debug/pprof/heap', '/debug/pprof/profile']),
    '/version',
  ].sort()
}
