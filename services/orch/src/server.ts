import { hostname } from 'node:os'
import type { Client, ClientConfiguration } from '@orch/client'
import { gatewayObjects, type UntilNeeded } from '@orch/controllers'
import type { Catalogue } from '@orch/core/catalogue'
import { admissionContract, nodesContract, type Store, storageContract, watchContract } from '@orch/core/contracts'
import type { Names } from '@orch/core/names'
import type { PolicyRule } from '@orch/core/rbac'
import type { RulesSource } from '@orch/core/scheduling'
import type { ControlHandler, Faults, HealthCheck, LoadSettings, PlacedObject, RequestLog, RequestOrder } from '@orch/gateway'
import {
  addressAt,
  type CertificateFiles,
  clientAuthority,
  createMetrics,
  directLinks,
  fixedPair,
  type KeyKind,
  type Lifecycle,
  requestSigner,
} from '@orch/platform'
import type { StateSnapshot, Storage } from '@orch/storage'
import { openAdmission } from './admission/open.ts'
import { keepSigningKey, signingKeyName } from './authentication/open.ts'
import { administratorConfiguration, readServerCertificates } from './certificates/clients.ts'
import { hasOwnFrontProxy, openFrontProxy, openPortCertificates, openProxyFiles, type PortCertificates } from './certificates/gateway.ts'
import { type Identity, runControllers, untilNeededIn } from './controllers/open.ts'
import { isControllerManager } from './controllers/settings.ts'
import { openEncryption } from './encryption/open.ts'
import { listenForClients, openAccess, openGateway } from './gateway/open.ts'
import { amendStartObjects, renewNamespaces, startObjectsOf } from './gateway/start-objects.ts'
import { createNodesDoor, groupsOfNodes, makeNodeObjects, type OpenNodes, openNodes, type SimulatedNodeState } from './nodes/open.ts'
import { advertisedAddress, printHost } from './serving/loopback.ts'
import type { ServerGroups } from './settings/up.ts'
import { addStorageMetrics, openStorage } from './storage/open.ts'
import { assemble, catalogueOf, faultsOf, type StopOptions, type Surroundings } from './surroundings.ts'
import { ObjectMarks, portSockets, SharedCount, type ThreadStart } from './threads/contracts.ts'
import type { GatewayThreads } from './threads/gateway-threads.ts'
import { openWatch } from './watch/open.ts'

/** All parts of a server. */
export interface ServerOptions extends ServerGroups, Pick<Surroundings, 'clock' | 'chance' | 'log' | 'tracer'> {
  /** The store of the state. The server closes it. */
  readonly store: Store
  /**
   * The server whose state this one continues, if it has the same settings; undefined if the server reads the store and creates the initial objects.
   */
  readonly base?: ServerBase | undefined
  /** True if the server is another cluster than its base and has separate namespaces. */
  readonly isNewCluster?: boolean
  /** Receives the moment at which only the initial objects exist. */
  readonly onMade?: ((made: ServerBase) => void) | undefined
  readonly certificateFiles: CertificateFiles
  /** The kind of the administrator's key, if the server creates it. */
  readonly adminKey?: KeyKind
  /** Nodes that run Pods without containers; none by default. */
  readonly simulatedNodes?: readonly SimulatedNodeState[]
  /** The time for which a terminating namespace keeps its contents; 0 by default. */
  readonly namespaceDelayMs?: number
  /** Maximum bytes of superseded objects in memory; old ones are then packed. Undefined for storage's default, without packing. */
  readonly pastBytesMax?: number
  /** The server's address for other programs; without it, or if empty, the listening address. */
  readonly advertiseAddress?: string
  /** For tests: records requests; undefined without recording. */
  readonly requestLog?: RequestLog
  /** For tests: faults that affect requests; undefined without faults. */
  readonly faults?: Faults
  /** For tests: the order of requests; undefined for the order of arrival. */
  readonly order?: RequestOrder | undefined
  /** For tests: the calls that control the server, and the token of their caller; undefined without a control. */
  readonly control?: ControlHandler | undefined
  readonly controlToken?: string | undefined
  /** By default the console is on if the address is a loopback address. */
  readonly hasUsualConsole?: boolean
  /** For tests: messages between services are recorded, and `stop` fails if their bytes have changed. */
  readonly freezesLinks?: boolean
  /** True if `/metrics` includes the metrics of the process. */
  readonly hasProcessMetrics?: boolean
  /** The number of threads that serve requests, and the settings of the further threads; undefined for one thread. */
  readonly threads?: { readonly count: number; readonly flags: readonly string[] }
  /** Called when all parts run; `/readyz` fails until it ends. */
  readonly beforeReady?: (server: Server) => Promise<void> | void
}

/** A snapshot of another server. */
export interface ServerBase {
  readonly snapshot: StateSnapshot
  /** The port at which it listened. */
  readonly port: number
  /** The published authorities of clients and of the proxy, in PEM. */
  readonly authorities: readonly string[]
  /** Undefined if the snapshot comes from a file. */
  readonly fixed?: FixedParts | undefined
  /** True if the objects of simulated nodes exist. */
  readonly hasNodeObjects?: boolean
  /** True if no controller had work or a timer, so that a fork's controllers have no work before the first change. */
  readonly isAtRest?: boolean
}

/** Immutable parts that a server with the same settings shares. */
interface FixedParts {
  readonly catalogue: Catalogue
  readonly identity: ServerIdentity
  /** The address of the server for other programs. */
  readonly address: string
}

/** The certificates and keys of one cluster. */
type ServerIdentity = Awaited<ReturnType<typeof openIdentity>>

/** A ready server. */
export interface Server {
  /** `https://127.0.0.1:6443`, with the path prefix. */
  readonly url: string
  readonly names: Names
  /** The level, the feature gates and the profiles of the scheduler. */
  readonly rules: Omit<RulesSource, 'names'>
  /** The administrator's client configuration. */
  readonly configuration: ClientConfiguration
  readonly storage: Storage
  /** The present moment, for another server. If it is settled, no work is in progress, and no fault delays any. */
  moment(known: { readonly isSettled: boolean }): ServerBase
  readonly nodes: OpenNodes
  /** A client without a socket, with this identity. */
  clientAs(identity: Identity): Client
  /** Stores objects of another server with their uids and status. Controllers are stopped meanwhile, because they would act on an incomplete set. */
  loadObjects<Place>(objects: AsyncIterable<PlacedObject<Place>>, settings: Omit<LoadSettings<Place>, 'commitAll'>): Promise<void>
  /** Resolves when the load in progress is done; undefined if there is none. */
  loading(): Promise<void> | undefined
  /** Gives a user rules without an RBAC object. */
  giveRules(user: string, rules: readonly PolicyRule[]): void
  stop(options: StopOptions): Promise<void>
}

/** Starts every service in this process, joined by function calls. Resolves when the server is ready. */
export function startServer(options: ServerOptions): Promise<Server> {
  return assemble(options.log, (lifecycle) => open(options, lifecycle))
}

/** Reads the server's certificates and keys, and creates the missing ones. */
async function openIdentity(options: ServerOptions, names: Names) {
  const { serving, objects, certificateFiles: files, adminKey, clock } = options
  return {
    certificates: await readServerCertificates({ files, names, serving, objects, hostName: hostname(), adminKey, clock }),
    frontProxy: hasOwnFrontProxy(options) ? await openFrontProxy({ files, clock }) : undefined,
    signingKey: keepSigningKey(files),
  }
}

async function open(options: ServerOptions, lifecycle: Lifecycle): Promise<Server> {
  const { api, authentication, serving, objects, store, chance, clock, log, tracer } = options
  lifecycle.opened('store', store)
  const known = options.base?.fixed
  const { catalogue = catalogueOf(api), address = advertisedAddress(options.advertiseAddress || serving.bindAddress) } = known ?? {}
  const surroundings = { catalogue, lifecycle, chance, clock, log, tracer, faults: faultsOf(options, options) }
  const { names } = catalogue
  const identity = known === undefined || options.isNewCluster === true ? await openIdentity(options, names) : known.identity
  const { certificates, frontProxy } = identity
  const services = await openServices({ ...options, ...identity }, surroundings)
  let stopOptions: StopOptions = { delayMs: 0, graceMs: 0 }
  let threads: GatewayThreads | undefined
  lifecycle.onStop('gateway', () => Promise.all([services.gateway.close(stopOptions), threads?.close(stopOptions)]))
  const portCertificates = openPortCertificates(
    { serving, authentication, ownPair: certificates.serving, ownClients: certificates.authority },
    surroundings,
  )
  const sharing = hasFurtherThreads(options) ? ({ sharing: 'opens', portSockets: portSockets.first } as const) : {}
  const port = await listenForClients(services.gateway, { serving, certificates: portCertificates, ...sharing })
  const { gateway, metrics, storage, nodesDoor: door } = services
  const { clientAs, ...start } = startObjectsOf(
    gatewayObjects({ names, serviceAddress: addressAt(objects.serviceClusterIpRange[0], 1), advertised: [{ address, port }] }),
    { ...options, gateway, metrics, authorities: portCertificates.authorities, frontProxy },
    surroundings,
  )
  const authorities = [portCertificates.authorities.current.clients, frontProxy?.authority ?? '']
  const { base, simulatedNodes: simulated = [], controllers, authorization } = options
  const hasVolumes = controllers.includes('simulated-provisioner')
  const hasNodeObjects = simulated.length > 0 || base?.hasNodeObjects === true
  const moment = () => ({ snapshot: storage.snapshot(), port, authorities, fixed: { catalogue, identity, address }, hasNodeObjects })
  if (base === undefined) await start.make()
  else {
    amendStartObjects(storage, start.objects, { catalogue: surroundings.catalogue, base, port, authorities })
    if (options.isNewCluster === true) renewNamespaces(storage, start.objects, surroundings)
    await start.load()
  }
  if (hasNodeObjects && base?.hasNodeObjects !== true) await makeNodeObjects({ hasVolumes, clientAs }, surroundings)
  if (base === undefined) options.onMade?.(moment())
  start.follow()
  threads = await services.startThreads({
    port,
    certificates: portCertificates,
    signingKey: options.certificateFiles.read(signingKeyName) ?? '',
  })
  const url = `https://${printHost(serving.bindAddress)}:${port}${serving.pathPrefix}`
  const configuration = administratorConfiguration({ url, serving, certificates, log })
  const rootCertificate = configuration.certificateAuthority
  const secretTokens = {
    signingKey: options.authentication.tokens.serviceAccounts.signingKey ?? identity.signingKey,
    certificateAuthority: rootCertificate,
  }
  const nodeGroups = groupsOfNodes(authorization.modes)
  const nodes = await openNodes(
    {
      ...{ simulated, hasVolumes, hasObjects: hasNodeObjects, nodeGroups, clientAs, metrics, door },
      serviceRanges: objects.serviceClusterIpRange,
    },
    surroundings,
  )
  const running = await runControllers(
    {
      ...options,
      objects: start.objects,
      secretTokens,
      signRequest: requestSigner(clientAuthority(options.certificateFiles), clock),
      rootCertificate,
      clientAs,
      metrics,
      untilNeeded: untilNeeded(options, storage, surroundings.catalogue),
    },
    surroundings,
  )
  const server: Server = {
    url,
    names,
    rules: { level: surroundings.catalogue.level, isGateOn: surroundings.catalogue.isGateOn, profiles: options.schedulers },
    configuration,
    storage,
    moment: ({ isSettled }) => ({ ...moment(), isAtRest: isSettled && running.isWithoutTimers() }),
    nodes,
    clientAs,
    loadObjects: (objects, settings) => running.pausing(() => gateway.loadObjects(objects, { ...settings, commitAll: storage.commitAll })),
    loading: running.paused,
    giveRules: services.giveRules,
    async stop(how) {
      stopOptions = how
      await lifecycle.stop()
      services.verify()
    },
  }
  await options.beforeReady?.(server)
  services.bootstrapped()
  return server
}

/**
 * Resolves with the first work of a controller. With a virtual clock controllers start at once, so that they draw from the seed in the same order as
 * the base's controllers.
 */
function untilNeeded({ base, clock }: ServerOptions, storage: Storage, catalogue: Catalogue): UntilNeeded | undefined {
  if (clock.isVirtual) return undefined
  return untilNeededIn({ storage, catalogue, clock, restingSince: base?.isAtRest === true ? base.snapshot.revision : undefined })
}

function hasFurtherThreads({ threads }: ServerOptions): boolean {
  return threads !== undefined && threads.count > 1
}

interface ThreadsStart extends Pick<ThreadStart, 'port' | 'signingKey'> {
  readonly certificates: PortCertificates
}

/** The services with their connections. */
async function openServices(options: ServerOptions & ServerIdentity, surroundings: Surroundings) {
  const links = directLinks({ freeze: options.freezesLinks === true })
  const encryption = options.encryption === undefined ? undefined : await openEncryption(options.encryption, surroundings)
  // With encryption, a change of keys stores objects again, which the marks would not show.
  const marks = hasFurtherThreads(options) && encryption === undefined ? new ObjectMarks() : undefined
  const onSuperseded = marks === undefined ? undefined : (key: string) => marks.count(key)
  const own = await openStorage({ ...options, from: options.base?.snapshot, encryption, onSuperseded }, surroundings)
  const storage = links.offer(storageContract, own)
  const watch = links.offer(watchContract, openWatch({ storage, announcing: own }, surroundings))
  let threads: GatewayThreads | undefined
  const metrics = createMetrics({
    process: options.hasProcessMetrics === true,
    releases: options.serving.metricReleases,
    others: async () => (await threads?.metrics()) ?? [],
  })
  const nodesDoor = createNodesDoor()
  const nodes = links.offer(nodesContract, nodesDoor.service)
  const admission = links.offer(admissionContract, await openAdmission({ ...options, storage, nodes, metrics }, surroundings))
  addStorageMetrics(metrics, own)
  encryption?.addMetrics(metrics)
  let isBootstrapped = false
  const checks: readonly HealthCheck[] = [
    { name: 'bootstrap', condition: 'bootstrap', check: () => (isBootstrapped ? undefined : 'the bootstrap objects are being made') },
    ...(encryption === undefined ? [] : [encryption.check]),
  ]
  const forgottenTokens = new SharedCount()
  const needs = {
    ...options,
    storage,
    ownSigningKey: options.signingKey,
    onTokensForgotten: () => forgottenTokens.add(),
    metrics,
  }
  const access = await openAccess(needs, surroundings)
  const { frontProxy } = options
  const proxyPair = openProxyFiles(options.aggregation, surroundings)
  const gateway = await openGateway(
    {
      ...needs,
      access,
      proxyPair,
      watch,
      admission,
      hasOwnAdmission: true,
      nodes,
      keepsExplanations: !hasFurtherThreads(options),
      limitShare: { index: 0, of: options.threads?.count ?? 1 },
      checks,
      runsControllers: isControllerManager(options.controllers),
      runsScheduler: options.controllers.includes('scheduler'),
    },
    surroundings,
  )
  return {
    storage: own,
    gateway,
    metrics,
    nodesDoor,
    giveRules: (user: string, rules: readonly PolicyRule[]) => access.authorization.roles?.give(user, rules),
    /** The bootstrap objects exist, and `/readyz` need not wait any longer. */
    bootstrapped() {
      isBootstrapped = true
    },
    /** Starts the further threads that accept requests, if any; resolves when they listen. */
    async startThreads({ certificates, ...start }: ThreadsStart): Promise<GatewayThreads | undefined> {
      if (options.threads === undefined || !hasFurtherThreads(options)) return undefined
      const { openGatewayThreads } = await import('./threads/gateway-threads.ts')
      threads = await openGatewayThreads(
        {
          ...start,
          flags: options.threads.flags,
          shownFlags: options.flags ?? new Map(),
          threads: options.threads.count,
          marks: marks?.memory,
          forgottenTokens: forgottenTokens.memory,
          storage,
          offers: links.offers,
          first: {
            access,
            certificates,
            proxyPair: frontProxy === undefined ? proxyPair : fixedPair(await frontProxy.client()),
            checks,
            printMetrics: () => metrics.bytes(),
            clock: options.clock,
          },
        },
        surroundings,
      )
      return threads
    },
    /** Throws if bytes changed after they crossed a link. */
    verify: links.verify,
  }
}
