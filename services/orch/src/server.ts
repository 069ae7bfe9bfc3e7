import { hostname, networkInterfaces } from 'node:os'
import { createAdmission } from '@orch/admission'
import { type Client, createClient, type Transport } from '@orch/client'
import {
  type BootstrapObject,
  bootstrap,
  bootstrapController,
  bootstrapObjects,
  type ControllerName,
  garbageCollector,
  namespaceController,
  startControllers,
} from '@orch/controllers'
import {
  type AdmissionService,
  admissionContract,
  type Catalogue,
  createCatalogue,
  type FeatureGates,
  type Names,
  namesOf,
  type Profile,
  type RuntimeConfig,
  renewalBy,
  type StorageService,
  type Store,
  storageContract,
  type WatchService,
  watchContract,
} from '@orch/core'
import { createGateway, createWatchHub, type Gateway } from '@orch/gateway'
import {
  addressAt,
  type CertificateFiles,
  type Certificates,
  type Cidr,
  type Clock,
  createLifecycle,
  createMetrics,
  directLink,
  type KeyPair,
  type Lifecycle,
  type Log,
  type PortRange,
  readCertificates,
  servingNames,
} from '@orch/platform'
import { createStorage, type Storage } from '@orch/storage'
import { createWatch } from '@orch/watch'
import { isLoopback } from './addresses.ts'
import { StartError } from './start-error.ts'
import { addStorageMetrics } from './storage-metrics.ts'
import { versionInfo } from './version.ts'
import { convertFrom } from './watch-conversion.ts'

/** All that a server is made of; it owns nothing else. */
export interface ServerOptions {
  readonly profile: Profile
  /** Where the state is kept. The server closes it. */
  readonly store: Store
  readonly certificateFiles: CertificateFiles
  /** A certificate of the caller's own to serve with. */
  readonly servingPair?: KeyPair | undefined
  /** Further authorities of client certificates, PEM. */
  readonly clientCertificateAuthorities: string
  readonly bindAddress: string
  readonly securePort: number
  readonly pathPrefix: string
  readonly requestTimeoutMs: number
  readonly anonymousAuth: boolean
  readonly runtimeConfig: RuntimeConfig
  readonly featureGates: FeatureGates
  readonly controllers: readonly ControllerName[]
  readonly eventTtlMs: number
  readonly watchHistoryMs: number
  readonly serviceClusterIpRange: Cidr
  readonly serviceNodePortRange: PortRange
  /** For tests: what crosses from one service to another is frozen, and `stop` fails if bytes that crossed were changed. */
  readonly freezesLinks: boolean
  /** Whether `/metrics` tells about the process too. */
  readonly hasProcessMetrics: boolean
  readonly clock: Clock
  /** A number in [0, 1). */
  readonly random: () => number
  readonly log: Log
}

/** A server that is ready. */
export interface Server {
  /** `https://127.0.0.1:6443`, with the path prefix. */
  readonly url: string
  readonly names: Names
  readonly certificates: Certificates
  readonly storage: Storage
  /** A client that needs no socket, as this user. */
  clientAs(user: User): Client
  stop(options: StopOptions): Promise<void>
}

/** How a server ends. */
export interface StopOptions {
  /** How long requests are still taken while `/readyz` fails. */
  readonly delayMs: number
  /** Longest that watches are spread over; 0 ends them at once. */
  readonly graceMs: number
}

/** As whom a client of the server's own acts. */
interface User {
  readonly name: string
  readonly groups: readonly string[]
}

const masters = 'system:masters'
/** Identity of the part that makes the objects of the start. */
const serverUser = { name: 'system:apiserver', groups: [masters] }

/** Starts every service in this process, joined by function calls. Resolves when the server is ready. */
export async function startServer(options: ServerOptions): Promise<Server> {
  const lifecycle = createLifecycle({ log: options.log })
  const readiness = { isBootstrapped: false }
  try {
    return await assemble(options, lifecycle, readiness)
  } catch (error) {
    await lifecycle.stop()
    throw error
  }
}

async function assemble(options: ServerOptions, lifecycle: Lifecycle, readiness: { isBootstrapped: boolean }): Promise<Server> {
  const names = namesOf(options.profile)
  await lifecycle.run({ name: 'store', stop: () => options.store.close() })
  const certificates = await readCertificates({
    files: options.certificateFiles,
    product: names.serverServiceName,
    names: servingNames({ names, hostName: hostname(), bindAddress: options.bindAddress, serviceAddress: serviceAddressOf(options) }),
    clock: options.clock,
  })
  const catalogue = createCatalogue(options.profile, { runtimeConfig: options.runtimeConfig, isGateOn: options.featureGates.isOn })
  const services = await openServices(options, catalogue, lifecycle)
  const gateway = await openGateway(options, catalogue, services, lifecycle, readiness)
  let stopOptions: StopOptions = { delayMs: 0, graceMs: 0 }
  await lifecycle.run({ name: 'gateway', stop: () => gateway.close(stopOptions) })
  const port = await listen(gateway, options, certificates)
  const clientAs = (user: User) => createClient(below(options.pathPrefix, gateway.loopback(user)))
  const objects = bootstrapObjects({
    names,
    serviceAddress: serviceAddressOf(options),
    advertised: { address: advertisedAddress(options.bindAddress), port },
  })
  await bootstrap(clientAs(serverUser), objects)
  readiness.isBootstrapped = true
  const running = runControllers(options, names, objects, clientAs)
  await lifecycle.run({ name: 'controllers', stop: () => running.stop() })
  return {
    url: `https://${printHost(options.bindAddress)}:${port}${options.pathPrefix}`,
    names,
    certificates,
    storage: services.storage,
    clientAs,
    async stop(how) {
      stopOptions = how
      await lifecycle.stop()
      services.verify()
    },
  }
}

/** What stands behind the gateway, each reached by its contract. */
interface Services {
  readonly storage: Storage
  readonly storageService: StorageService
  readonly watchService: WatchService
  readonly admissionService: AdmissionService
  /** Throws when bytes were changed that had crossed a link. */
  verify(): void
}

async function openServices(options: ServerOptions, catalogue: Catalogue, lifecycle: Lifecycle): Promise<Services> {
  const { log, clock, random } = options
  const storage = await createStorage({
    store: options.store,
    clock,
    reencode: renewalBy(catalogue),
    watchHistoryMs: options.watchHistoryMs,
    onError: (error, what) => log.error({ err: error, what }, 'storage failed'),
  })
  await lifecycle.run({ name: 'storage', stop: () => storage.close() })
  const link = { freeze: options.freezesLinks }
  const storageLink = directLink(storageContract, storage, link)
  const watch = createWatch({ storage: storageLink.service, clock, log, random, convertOf: convertFrom(catalogue) })
  await lifecycle.run({ name: 'watch', stop: () => watch.close() })
  const watchLink = directLink(watchContract, watch, link)
  const admission = createAdmission({ storage: storageLink.service, catalogue, clock, log, random })
  await lifecycle.run({ name: 'admission', stop: () => admission.close() })
  const admissionLink = directLink(admissionContract, admission, link)
  return {
    storage,
    storageService: storageLink.service,
    watchService: watchLink.service,
    admissionService: admissionLink.service,
    verify() {
      for (const { verify } of [storageLink, watchLink, admissionLink]) verify()
    },
  }
}

async function openGateway(
  options: ServerOptions,
  catalogue: Catalogue,
  services: Services,
  lifecycle: Lifecycle,
  readiness: { readonly isBootstrapped: boolean },
): Promise<Gateway> {
  const { log, clock, random } = options
  const watchHub = createWatchHub({ watch: services.watchService, clock, log, random })
  await lifecycle.run({ name: 'watch hub', stop: () => watchHub.close() })
  const metrics = createMetrics({ process: options.hasProcessMetrics })
  addStorageMetrics(metrics, services.storage)
  return createGateway({
    catalogue,
    storage: services.storageService,
    watchHub,
    admission: services.admissionService,
    clock,
    random: (bound) => Math.floor(random() * bound),
    log,
    metrics,
    version: versionInfo(),
    anonymousAuth: options.anonymousAuth,
    requestTimeoutMs: options.requestTimeoutMs,
    listChunking: options.featureGates.isOn('APIListChunking'),
    fieldValidation: options.featureGates.isOn('ServerSideFieldValidation'),
    pathPrefix: options.pathPrefix,
    serviceClusterIpRange: options.serviceClusterIpRange.text,
    serviceNodePortRange: { from: options.serviceNodePortRange.first, to: options.serviceNodePortRange.last },
    eventTtlMs: options.eventTtlMs,
    checks: [
      { name: 'poststarthook/bootstrap', check: () => (readiness.isBootstrapped ? undefined : 'the objects of the start are being made') },
    ],
  })
}

function runControllers(
  options: ServerOptions,
  names: Names,
  objects: readonly BootstrapObject[],
  clientAs: (user: User) => Client,
): ReturnType<typeof startControllers> {
  const { controllers, clock, random, log } = options
  return startControllers({
    controllers: [namespaceController, bootstrapController(objects), garbageCollector].filter(({ name }) => controllers.includes(name)),
    clientFor: (name) => clientAs(name === 'bootstrap' ? serverUser : controllerUser(names, name)),
    names,
    clock,
    random,
    log,
  })
}

async function listen(gateway: Gateway, options: ServerOptions, certificates: Certificates): Promise<number> {
  const { bindAddress, securePort } = options
  const pair = options.servingPair ?? certificates.serving
  try {
    return await gateway.listen({
      host: bindAddress,
      port: securePort,
      certificate: pair.certificate,
      key: pair.key,
      clientCertificateAuthorities: `${certificates.authority}\n${options.clientCertificateAuthorities}`,
    })
  } catch (error) {
    throw explainListenFailure(error, bindAddress, securePort)
  }
}

function explainListenFailure(error: unknown, address: string, port: number): unknown {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'EADDRINUSE') {
    return new StartError(
      `port ${port} on ${address} is in use by another program; choose another with --secure-port, or 0 for any free one`,
    )
  }
  if (code === 'EACCES')
    return new StartError(`port ${port} on ${address} may not be opened by this user; choose another with --secure-port`)
  if (code === 'EADDRNOTAVAIL') return new StartError(`this machine does not have the address ${address} of --bind-address`)
  return error
}

/** The same way in, for clients that know nothing of the path prefix. */
function below(pathPrefix: string, transport: Transport): Transport {
  if (pathPrefix === '') return transport
  return { send: (request) => transport.send({ ...request, path: pathPrefix + request.path }), close: () => transport.close() }
}

function controllerUser(names: Names, controller: ControllerName) {
  const group = 'system:serviceaccounts'
  return {
    name: `system:serviceaccount:${names.systemNamespace}:${accountOf(controller)}`,
    groups: [group, `${group}:${names.systemNamespace}`],
  }
}

/** The service account as whom a controller acts. */
function accountOf(controller: ControllerName): string {
  return controller === 'garbage-collector' ? 'generic-garbage-collector' : `${controller}-controller`
}

function serviceAddressOf({ serviceClusterIpRange }: ServerOptions): string {
  return addressAt(serviceClusterIpRange, 1)
}

/** Where others find this machine: the address that is listened on, unless that is all of them or one that nobody else can reach. */
function advertisedAddress(bindAddress: string): string {
  const isOwn = bindAddress === '0.0.0.0' || bindAddress === '::' || isLoopback(bindAddress)
  if (!isOwn) return bindAddress
  const family = bindAddress.includes(':') ? 'IPv6' : 'IPv4'
  const addresses = Object.values(networkInterfaces()).flatMap((found) => found ?? [])
  const reachable = addresses.find((found) => !found.internal && found.family === family && !found.address.startsWith('fe80:'))
  return reachable?.address ?? (family === 'IPv6' ? '::1' : '127.0.0.1')
}

/** The host of a URL by which this machine reaches the address. */
function printHost(bindAddress: string): string {
  if (bindAddress === '0.0.0.0') return '127.0.0.1'
  if (bindAddress === '::') return '[::1]'
  return bindAddress.includes(':') ? `[${bindAddress}]` : bindAddress
}
