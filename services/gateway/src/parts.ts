import type { Catalogue } from '@orch/core/catalogue'
import type { NodesService } from '@orch/core/contracts'
import { printRelease } from '@orch/core/feature-gates'
import type { ApiObject } from '@orch/core/meta'
import { domainGroup } from '@orch/core/names'
import { type CidrPair, createGuard, createLifecycle, type PortRange, RareLines, TimerWheel, workqueueMetricsOf } from '@orch/platform'
import { Converter, conversionMetricsOf, conversionsAtOnceMax } from '@orch/platform/conversion'
import { createClusterAddresses, createServiceAddresses, createWebhookCaller, noCredentials, noPlaces } from '@orch/platform/webhooks'
import { createAdmissionMetrics } from './admission/admission-metrics.ts'
import { createAggregation } from './aggregation/aggregation.ts'
import { createAllocator } from './allocation/allocator.ts'
import { servicePrefix } from './allocation/reserved-keys.ts'
import { certificatesAlone, createAuthenticators } from './authentication/authenticators.ts'
import { createAttemptMetrics } from './authentication/metrics.ts'
import { createAccessMetrics } from './authorization/authorization-metrics.ts'
import { alwaysAllow } from './authorization/authorizer.ts'
import { ConsoleDoor, type DoorOptions, type OpenPlainPort } from './console/door.ts'
import { CustomResources } from './custom-resources/custom-resources.ts'
import { LiveCatalogue } from './custom-resources/live-catalogue.ts'
import { SchemaBudget } from './custom-resources/schema-budget.ts'
import { DefinitionKeeper } from './definitions/definition-keeper.ts'
import { ServingConditions } from './definitions/serving-condition.ts'
import type { Exchange } from './exchange/exchange.ts'
import type { InProcessRequest, InProcessResponse } from './exchange/in-process.ts'
import { faultyNodes } from './faults/faulty-nodes.ts'
import { FlowControl } from './flow-control/flow-control.ts'
import type { ConsoleOptions, GatewayOptions } from './gateway-options.ts'
import { PastKinds } from './history/past-kinds.ts'
import { Kubelets, usualKubelets } from './kubelets/kubelets.ts'
import { limits } from './limits.ts'
import { Profilers } from './profiles/profilers.ts'
import { PiecePacker } from './representations/gzip-pieces.ts'
import { RemadeFrames } from './representations/remade-frames.ts'
import { RepresentationCache } from './representations/representation-cache.ts'
import { SharedFrames } from './representations/shared-frames.ts'
import { createBrowserHeaders } from './request/browser-headers.ts'
import { KeptExplanations } from './request/explanation.ts'
import { createDraws, type GatewayRequest, isWatchTarget, Pace, RequestTurns } from './request/index.ts'
import type { CountedMetrics } from './routes/admission.ts'
import { OpenApiDocuments, type OpenApiDocumentsOptions } from './routes/openapi-documents.ts'
import { createHealthResults } from './server/health-results.ts'
import { shareOf, wholeLimit } from './server/limit-share.ts'
import { addBuildInfo, addFeatureGates, createGatewayMetrics } from './server/metrics.ts'
import type { GatewayState } from './server/state.ts'
import type { InFlightBounds } from './steps/in-flight.ts'
import { createDeprecationWarner } from './target/deprecation.ts'
import { createServedResources } from './target/target.ts'
import { TextThread } from './texts/text-thread.ts'
import { UnreadBytes } from './verbs/unread-bytes.ts'
import { createAdmitter } from './write/admission.ts'
import { KeyedMutex } from './write/keyed-mutex.ts'
import { RecentObjects } from './write/recent-objects.ts'
import { type Reserver, Reservers } from './write/reservation.ts'

/** The requests of the gateway itself for its parts, like those of a client. */
export interface OwnWork {
  /** Creates a namespace. */
  readonly provideNamespace: (name: string) => Promise<void>
  readonly send: (request: InProcessRequest) => Promise<InProcessResponse>
  /** Creates APIServices if none is stored yet. */
  readonly writeFirst: (objects: readonly ApiObject[]) => Promise<void>
  /** Ends a request that outlives its verb: counts, logs and traces it. */
  readonly conclude: (request: GatewayRequest) => void
  /** Serves requests of the console, and opens its port. */
  readonly console: Pick<DoorOptions, 'serve' | 'open'> & {
    readonly openPlainPort: (host: string, serve: (exchange: Exchange, port: number) => Promise<void>) => Promise<OpenPlainPort>
  }
}

/** All parts for requests, built from the options. */
export function createParts(options: GatewayOptions, own: OwnWork) {
  const ground = createGround(options)
  const objects = createObjectParts(options, ground)
  const outside = createOutsideParts(options, ground, { ...own, ...objects })
  const access = createAccessParts(options, ground, own)
  addBuildInfo(options.metrics, ground.names, options.version)
  addFeatureGates(options.metrics, options.catalogue)
  options.faults?.countIn(options.metrics)
  const { clock, live, lifecycle } = ground
  const openApi = documentsOf({
    authentication: access.authentication,
    builtInCatalogue: ground.builtInCatalogue,
    catalogue: () => live.current(),
    clock,
    pace: ground.pace,
    version: options.version,
    pathPrefix: ground.pathPrefix,
    remoteOpenApi: outside.remoteOpenApi,
  })
  return {
    ...ground,
    ...objects,
    ...outside,
    ...access,
    ...createWatchParts(ground),
    ...settingsOf(options),
    /** The served catalogue. */
    get catalogue(): Catalogue {
      return live.current()
    },
    metrics: createGatewayMetrics(options.metrics, {
      state: ground.state,
      bounds: boundsOf(options),
      clock,
    }),
    flowControl: flowControlOf(options, ground),
    healthResults: createHealthResults(),
    checks: [...(options.checks ?? []), outside.aggregation.check],
    representations: new RepresentationCache(limits.representationBytesMax),
    openApi,
    packer: new PiecePacker(),
    requestTurns: new RequestTurns(clock),
    texts: lifecycle.opened('thread of texts', new TextThread()),
    mutex: new KeyedMutex(),
    recent: new RecentObjects(),
    rareLines: new RareLines(clock),
    explanations: options.keepsExplanations === true ? new KeptExplanations() : undefined,
    profilers: options.serving?.takesProfiles === true ? new Profilers() : undefined,
    createdMs: clock.monotonic(),
    conclude: own.conclude,
    console: options.console === undefined ? undefined : lifecycle.opened('console', createDoor(options.console, ground, own.console)),
  }
}

/** OpenAPI documents, which most servers of tests never show. */
function documentsOf(options: OpenApiDocumentsOptions): Pick<OpenApiDocuments, 'now' | 'of'> {
  let documents: OpenApiDocuments | undefined
  const made = () => {
    documents ??= new OpenApiDocuments(options)
    return documents
  }
  return { now: () => made().now(), of: (catalogue) => made().of(catalogue) }
}

function createDoor({ folder, plainHost, clock }: ConsoleOptions, ground: Ground, own: OwnWork['console']): ConsoleDoor {
  const { names, level, pathPrefix, state } = ground
  return new ConsoleDoor({
    folder,
    clock,
    path: `${pathPrefix}/console`,
    facts: {
      profile: names.profile,
      apiDomain: names.apiDomain,
      labelDomain: names.labelDomain,
      explainHeader: names.explainHeader,
      release: printRelease(level),
    },
    serve: own.serve,
    open: ({ path, ...request }, peer) => own.open({ ...request, path: `${pathPrefix}${path}` }, peer),
    isWatch: (target) => isWatchTarget(target, ''),
    openPlainPort: plainHost === undefined ? undefined : (serve) => own.openPlainPort(plainHost, serve),
    secureOrigin: () => `https://${state.address}`,
  })
}

type Ground = ReturnType<typeof createGround>

/** The ranges of the settings' defaults. */
const usualAddresses: CidrPair = [{ text: '10.0.0.0/24', family: 4, bits: 24, first: 0x0a_00_00_00n }]
const usualPorts: PortRange = { first: 30_000, last: 32_767 }

/** The dependencies of nearly all other parts. */
function createGround(options: GatewayOptions) {
  const { clock, log, storage, catalogue } = options
  const state: GatewayState = { isClosing: false, isRefusing: false, readsInFlight: 0, writesInFlight: 0, address: '', watches: new Set() }
  const lifecycle = createLifecycle({ log })
  if (options.auditor !== undefined) lifecycle.opened('audit', options.auditor)
  return {
    lifecycle,
    names: catalogue.names,
    metaVersion: `${domainGroup(catalogue.names, 'meta')}/v1`,
    builtInCatalogue: catalogue,
    isGateOn: catalogue.isGateOn,
    level: catalogue.level,
    live: new LiveCatalogue(catalogue),
    storage,
    clock,
    log,
    draws: createDraws(options.chance),
    wheel: lifecycle.opened('timers', new TimerWheel({ clock })),
    watchWheel: lifecycle.opened('timers of watches', new TimerWheel({ clock, repeats: true })),
    pace: new Pace(clock),
    guard: createGuard({ log, metrics: () => options.metrics }),
    share: options.limitShare ?? wholeLimit,
    requestTimeoutMs: options.serving?.requestTimeoutMs ?? limits.requestTimeoutMs,
    pathPrefix: options.serving?.pathPrefix ?? '',
    state,
  }
}

/** The state other than objects: custom kinds, and the reservations of some kinds' writes. */
function createObjectParts(options: GatewayOptions, ground: Ground) {
  const { storage, clock, log, names, level, draws, live, pace, wheel, requestTimeoutMs, lifecycle } = ground
  const served = createServedResources(live)
  const prefix = `${domainGroup(names, 'apiextensions')}/customresourcedefinitions`
  const networking = domainGroup(names, 'networking')
  const allocator = createAllocator({
    names,
    addressResource: options.catalogue.find(networking, 'v1', 'ipaddresses'),
    rangeResource: options.catalogue.find(networking, 'v1', 'servicecidrs'),
    metrics: options.metrics,
    storage,
    clock,
    draws,
    log,
    level,
    clusterIpRanges: options.objects?.serviceClusterIpRange ?? usualAddresses,
    keepsStaticAddresses: options.catalogue.isGateOn('ServiceIPStaticSubrange'),
    keepsStaticPorts: options.catalogue.isGateOn('ServiceNodePortStaticSubrange'),
    nodePortRange: options.objects?.serviceNodePortRange ?? usualPorts,
    requestTimeoutMs,
    random: draws.pause,
  })
  const definitionKeeper = new DefinitionKeeper({
    storage,
    clock,
    log,
    names,
    writeId: draws.writeId,
    random: draws.pause,
    served,
    prefix,
    level,
  })
  const schemas = new SchemaBudget(limits.schemaBytesMax)
  const customResources = new CustomResources({ storage, catalogue: live, schemas, clock, wheel, pace, log, random: draws.pause })
  for (const part of [allocator, definitionKeeper, customResources]) lifecycle.opened('objects', part)
  const builtIn = new Map<string, Reserver | undefined>(options.catalogue.resources.map(({ stored }) => [stored.prefix, undefined]))
  builtIn.set(servicePrefix, allocator)
  builtIn.set(prefix, definitionKeeper)
  const servingConditions = new ServingConditions({ storage, definitionPrefix: prefix, definitions: customResources })
  return {
    served,
    liveCatalogue: live,
    allocator,
    definitionKeeper,
    schemas,
    customResources,
    pastKinds: new PastKinds(customResources),
    reservers: new Reservers(builtIn, servingConditions),
  }
}

interface OutsideNeeds extends Pick<OwnWork, 'send' | 'writeFirst'> {
  readonly customResources: CustomResources
}

/** The parts that call other servers: webhooks of definitions, and servers of APIServices. */
function createOutsideParts(options: GatewayOptions, ground: Ground, { send, writeFirst, customResources }: OutsideNeeds) {
  const { storage, clock, log, names, level, draws, live, pace, guard, share, pathPrefix, lifecycle } = ground
  const places = options.webhookPlaces ?? noPlaces
  const { allowsLinkLocal } = places
  const calls = options.faults?.calls
  const addressNeeds = { storage, nodes: nodesOf(options), names, clock, random: draws.pause, places }
  const addresses = createServiceAddresses(addressNeeds)
  const converter = new Converter({
    caller: createWebhookCaller({
      ...{ addresses, credentials: noCredentials, allowsLinkLocal, clock, calls },
      userAgent: names.serverManager,
    }),
    names,
    level,
    clock,
    reviewUid: options.chance.stream('review uid').uuid,
    pace,
    metrics: conversionMetricsOf(options.metrics),
    callsMax: shareOf(conversionsAtOnceMax, share),
  })
  // Servers of APIServices have no DNS names, as in kube-apiserver.
  const behindNeeds = { ...addressNeeds, places: { ...places, asksDns: false } }
  const { routesToEndpoints = true, rejectsRedirects = true, proxyPair } = options.aggregation ?? {}
  const aggregation = createAggregation({
    storage,
    builtIn: options.catalogue,
    live,
    clock,
    log,
    metrics: options.metrics,
    queues: workqueueMetricsOf(options.metrics, clock),
    random: draws.pause,
    addresses: routesToEndpoints ? createServiceAddresses(behindNeeds) : createClusterAddresses(behindNeeds),
    allowsLinkLocal,
    knownServices: places.services,
    proxyPair: proxyPair ?? (() => undefined),
    guard,
    calls,
    pathPrefix,
    send,
    writeFirst,
    complete: () => customResources.complete(),
    keepsAvailability: share.index === 0,
  })
  lifecycle.opened('conversion', converter)
  lifecycle.opened('aggregation', aggregation)
  return {
    converter,
    aggregation,
    /** Remote group versions, by path prefix. */
    remotes: aggregation.apiServices.remotes,
    backends: aggregation.backends,
    discovery: aggregation.discovery,
    remoteOpenApi: aggregation.openApi,
    rejectsRedirects,
    kubelets: new Kubelets(options.kubelets ?? usualKubelets, { clock, guard, calls }),
  }
}

/** The parts that find the user of a request and decide about its access. */
function createAccessParts(
  options: GatewayOptions,
  { names, clock, log, lifecycle }: Ground,
  { provideNamespace }: Pick<OwnWork, 'provideNamespace'>,
) {
  const authorizers = options.authorization?.authorizers ?? [alwaysAllow]
  const { browser } = options.serving ?? {}
  const metrics = createAdmissionMetrics(options.metrics, { clock, log })
  return {
    authorizers,
    roles: options.authorization?.roles,
    authentication: createAuthenticators(options.authentication ?? certificatesAlone(options.catalogue), names),
    attempts: createAttemptMetrics(options.metrics),
    accessMetrics: createAccessMetrics(options.metrics),
    anonymousAuth: options.anonymousAuth ?? { isAllowed: () => false },
    admitter: lifecycle.opened(
      'admission',
      createAdmitter({
        ...{ admission: options.admission, isOwn: options.hasOwnAdmission, isLate: options.hasLateAdmission },
        ...{ authorizers, provideNamespace, metrics, clock, log },
      }),
    ),
    auditor: options.auditor,
    warnOfDeprecation: createDeprecationWarner(options.metrics, names),
    browserHeaders: browser === undefined ? undefined : createBrowserHeaders(browser, names),
    inFlight: boundsOf(options),
    tellsUids: options.catalogue.isGateOn('RemoteRequestHeaderUID'),
    constrainsImpersonation: options.catalogue.isGateOn('ConstrainedImpersonation'),
  }
}

/** The parts shared by watches. */
function createWatchParts({ clock, wheel, share }: Ground) {
  return {
    remadeFrames: new RemadeFrames(),
    sharedFrames: new SharedFrames(),
    unread: new UnreadBytes({
      perConnectionMax: limits.unreadBytesPerConnectionMax,
      perUserMax: shareOf(limits.unreadBytesPerUserMax, share),
      slowMs: limits.watchSlowMs,
      clock,
      wheel,
    }),
  }
}

function nodesOf({ nodes, faults, clock }: GatewayOptions): NodesService | undefined {
  return nodes === undefined || faults === undefined ? nodes : faultyNodes(nodes, { calls: faults.calls, clock })
}

/** Options that parts read, nearly all unchanged. */
function settingsOf(options: GatewayOptions) {
  const countedMetrics: CountedMetrics = { getSingleMetric: (name) => options.metrics.registry.getSingleMetric(name) }
  return {
    watchHub: options.watchHub,
    nodes: nodesOf(options),
    version: options.version,
    flags: options.flags,
    requestLog: options.requestLog,
    countedMetrics,
    faults: options.faults,
    control: options.control,
    order: options.order,
    runsControllers: options.runsControllers === true,
    runsScheduler: options.runsScheduler === true,
    fieldValidation: options.catalogue.isGateOn('ServerSideFieldValidation'),
    listChunking: options.catalogue.isGateOn('APIListChunking'),
    watchLifeMs: options.serving?.watchLifeMs ?? limits.watchLifeMs,
    eventTtlMs: options.objects?.eventTtlMs,
  }
}

/** The parts for steps, routes and verbs; each declares those that it takes. */
export type GatewayParts = ReturnType<typeof createParts>

/** The gateway's share of the limits of its process. */
function boundsOf({ flowControl: bounds, limitShare = wholeLimit }: GatewayOptions): InFlightBounds {
  const { readsMax = limits.readsInFlightMax, writesMax = limits.writesInFlightMax } = bounds ?? {}
  return { readsMax: shareOf(readsMax, limitShare), writesMax: shareOf(writesMax, limitShare) }
}

function flowControlOf(options: GatewayOptions, { draws, lifecycle }: Ground): FlowControl | undefined {
  const { flowControl: bounds, limitShare = wholeLimit, catalogue, clock, log, metrics, storage } = options
  if (bounds?.isFair !== true) return undefined
  const flowControl = new FlowControl({
    storage,
    catalogue,
    clock,
    log,
    metrics,
    random: draws.pause,
    seatsMax: bounds.readsMax + bounds.writesMax,
    share: limitShare,
  })
  return lifecycle.opened('flow control', flowControl)
}
