import type { Catalogue } from '@orch/core/catalogue'
import { memo } from '@orch/core/memo'
import type { Names } from '@orch/core/names'
import { TrieRouter } from 'hono/router/trie-router'
import type { CustomResources } from '../custom-resources/custom-resources.ts'
import { type Dump, dump, dumps } from '../flow-control/dump.ts'
import type { FlowControl } from '../flow-control/flow-control.ts'
import { nothingAt, pageNotFound } from '../request/respond.ts'
import type { HealthResults } from '../server/health-results.ts'
import type { VersionInfo } from '../server/version-info.ts'
import type { ExplainParts } from '../steps/explain.ts'
import { onlyAs } from './accepted.ts'
import { type AdmissionRouteParts, admissionRoute } from './admission.ts'
import { type ConsoleRouteParts, ticketRoute } from './console.ts'
import { coreVersions, type DiscoveryParts, groups, groupVersion, oneGroup } from './discovery.ts'
import { after, bytesResponse, type DocumentHandler, jsonResponse, plainText, type RouteContext, readOnly } from './document.ts'
import { explanationRoute } from './explain.ts'
import { checkNames, type HealthParts, healthCheckRoute, healthRoute } from './health.ts'
import { type IssuerParts, keysPath, keysRoute, keysType, providerRoute } from './issuer.ts'
import { metricsResponse, type PrintedMetrics } from './metrics.ts'
import { type ObjectCountsParts, objectCountsRoute } from './object-counts.ts'
import { type OpenApiRouteParts, openApi2, openApi3, openApi3One, unlessKnown } from './openapi.ts'
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

/** The routes of a profile, which servers of one process share. */
export const routesOf = memo(createRoutes)

/** The documents by path. Resources are not routed here. */
function createRoutes({
  ownPath,
}: Pick<Names, 'ownPath'>): (asked: Omit<RouteContext<RouteParts>, 'param'>) => ReturnType<DocumentHandler<RouteParts>> {
  const router = new TrieRouter<DocumentHandler<RouteParts>>()
  const serve = (path: string, handler: DocumentHandler<RouteParts>) => router.add('ALL', path, handler)
  serve('/api', readOnly(coreVersions))
  // The lists of groups accept any method, as in kube-apiserver.
  serve('/apis', complete(groups))
  serve('/apis/:group', complete(oneGroup))
  serve('/api/:version', groupVersion)
  serve('/apis/:group/:version', complete(groupVersion))
  serve('/version', readOnly(onlyAs('application/json', ({ parts }) => jsonResponse(parts.version))))
  serve('/metrics', metrics)
  serve('/metrics/slis', healthResults)
  serve('/.well-known/openid-configuration', readOnly(onlyAs('application/json', providerRoute)))
  serve(keysPath, readOnly(onlyAs(keysType, keysRoute)))
  serve('/openapi/v2', complete(unlessKnown(openApi2)))
  serve('/openapi/v3', complete(openApi3))
  serve('/openapi/v3/:name{.+}', complete(unlessKnown(openApi3One)))
  serve('/statusz', readOnly(statuszRoute(shownPaths)))
  serve('/flagz', readOnly(flagzRoute))
  serve('/debug/pprof', readOnly(pprofIndexRoute))
  for (const which of ['profile', 'heap'] as const) serve(`/debug/pprof/${which}`, readOnly(profileRoute(which)))
  serve('/console/ticket', ticketRoute)
  serve('/debug/requests/:id', readOnly(explanationRoute))
  serve(`${ownPath}/timeline`, readOnly(complete(timelineRoute)))
  serve(`${ownPath}/requests/:id`, readOnly(requestRoute))
  serve(`${ownPath}/objects`, readOnly(complete(objectCountsRoute)))
  serve(`${ownPath}/admission`, readOnly(admissionRoute))
  for (const which of dumps) serve(`${dumpFolder}/${which}`, readOnly(flowControlRoute(which)))
  for (const probe of ['healthz', 'livez', 'readyz'] as const) {
    serve(`/${probe}`, healthRoute(probe))
    serve(`/${probe}/:check{.+}`, healthCheckRoute(probe))
  }
  serve('/', complete(paths))
  return ({ request, parts }) => {
    // The path is already decoded, without a prefix.
    const [[found], segments] = router.match('ALL', withoutLastSlash(request.path, ownPath))
    if (found === undefined) throw nothingAt(request.path, parts)
    const [handler, names] = found
    const param = (name: string) => {
      const at = names[name] ?? ''
      return typeof at === 'number' ? (segments?.[at] ?? '') : at
    }
    return handler({ request, parts, param })
  }
}

/** A trailing slash is ignored below these folders, and below the profile's own. */
const ignoresLastSlash = /^\/(?:apis?|version|\.well-known|openid|debug)\//

function withoutLastSlash(path: string, ownPath: string): string {
  const isIgnored = path.endsWith('/') && (ignoresLastSlash.test(path) || path.startsWith(`${ownPath}/`))
  return isIgnored ? path.slice(0, -1) : path
}

/** Discovery waits until all served resources are known, so that a client that has seen an established definition finds it here. */
function complete(handler: DocumentHandler<RouteParts>): DocumentHandler<RouteParts> {
  return after(({ parts }) => parts.customResources.upToDate(), handler)
}

const metrics: DocumentHandler<RouteParts> = async ({ request, parts }) => metricsResponse(parts.metrics, request, parts.level)

/** The results of health checks, from level 1.27 on. */
const healthResults: DocumentHandler<RouteParts> = async ({ request, parts }) => {
  if (!parts.isGateOn('ComponentSLIs')) throw nothingAt(request.path, parts)
  return metricsResponse(parts.healthResults, request, parts.level)
}

const dumpFolder = '/debug/api_priority_and_fairness'

function flowControlRoute(which: Dump): DocumentHandler<RouteParts> {
  return ({ request, parts }) => {
    if (parts.flowControl === undefined) throw pageNotFound()
    const text = dump(parts.flowControl, which, request.query.get('includeRequestDetails') !== undefined)
    return bytesResponse(Buffer.from(text), { 'content-type': plainText })
  }
}

/** The list of paths in alphabetical order; those of `/debug` are not listed, as in kube-apiserver. */
const paths: DocumentHandler<RouteParts> = ({ parts }) => jsonResponse({ paths: shownPaths(parts) })

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
    '/version',
  ].sort()
}
