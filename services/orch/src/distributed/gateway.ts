import { bootstrap, type GatewayAddress, gatewayObjects, removeEndpointSlices } from '@orch/controllers'
import type { Catalogue, Resource } from '@orch/core/catalogue'
import { type AdmissionService, listEntries, type StorageService, watchContract } from '@orch/core/contracts'
import { printRelease } from '@orch/core/feature-gates'
import { encodeObject, encodeStored, schemaFingerprint } from '@orch/core/stored'
import type { AuthoritySource, Gateway } from '@orch/gateway'
import { addressAt, flagTexts, type KeyPair, retryDelayMs, SettingsError, type SigningKey, sleep, type Values } from '@orch/platform'
import { dialContract } from '@orch/platform/rpc'
import { pluginSettings, readAdmission } from '../admission/settings.ts'
import { everythingServed } from '../api/settings.ts'
import { type FrontProxy, openPortCertificates } from '../certificates/gateway.ts'
import { runControllers, serverIdentity } from '../controllers/open.ts'
import { listenForClients, openGateway } from '../gateway/open.ts'
import { type GatewayGroups, readGateway } from '../gateway/settings.ts'
import { startObjectsOf } from '../gateway/start-objects.ts'
import { printComplaint } from '../process/terminal.ts'
import { advertisedAddress, printHost } from '../serving/loopback.ts'
import { readerOf } from '../settings/general.ts'
import { catalogueOf, faultsOf, type Surroundings } from '../surroundings.ts'
import { type AdmissionPlace, reachAdmission } from './admission.ts'
import {
  type Assembly,
  assembleReplica,
  dialNodes,
  dialStorage,
  type Replica,
  type ReplicaOptions,
  reachable,
  readNodesAddresses,
} from './replica.ts'
import { serviceCommand } from './run-service.ts'
import { gatewayCommandSettings, readServiceAddresses, type TrustOptions } from './settings.ts'

type GatewaySettings = Values<typeof gatewayCommandSettings>

/** The place of admission: the flags of its plugins belong to the process that hosts it. */
export function readAdmissionPlace(settings: GatewaySettings, texts: ReadonlyMap<string, string>, trust: TrustOptions): AdmissionPlace {
  if (settings.admission === 'service') {
    const useless = Object.values(pluginSettings).find(({ flag }) => texts.has(flag))
    if (useless !== undefined) throw new SettingsError(`${useless.flag} needs --admission=in-process: else it is a flag of orch admission`)
    return { kind: 'service', addresses: readServiceAddresses('--admission-address', settings.admissionAddress, trust) }
  }
  if (settings.admissionAddress.length > 0) throw new SettingsError('--admission-address and --admission=in-process exclude each other')
  return { kind: 'in-process', settings: readAdmission(settings) }
}

/** `orch gateway`: the entry point for clients; a separate port answers probes. */
export const gateway = serviceCommand('gateway', readerOf(gatewayCommandSettings), ({ settings, texts, terminal, trust }) => {
  const groups = { ...readGateway(settings), flags: flagTexts(gatewayCommandSettings, texts) }
  for (const warning of groups.api.featureGates.warnings) terminal.error(printComplaint(settings.logFormat, 'warn', warning))
  const { servingPair } = groups.serving
  if (servingPair === undefined) {
    throw new SettingsError(
      '--tls-cert-file and --tls-private-key-file are needed: several gateways show certificates that the same clients trust',
    )
  }
  if (groups.authentication.tokens.serviceAccounts.signingKey === undefined) {
    throw new SettingsError(
      '--service-account-signing-key-file is needed: what one gateway signs, the others have to accept, so all are given the same key',
    )
  }
  const addresses = {
    storageAddresses: readServiceAddresses('--storage-address', settings.storageAddress, trust),
    watchAddresses: readServiceAddresses('--watch-address', settings.watchAddress, trust),
    admission: readAdmissionPlace(settings, texts, trust),
    nodesAddresses: readNodesAddresses(settings, trust),
  }
  const { advertiseAddress } = settings
  const replica = { ...groups, ...addresses, trust, hasProcessMetrics: true, pair: servingPair, ownClients: '', advertiseAddress }
  return { api: groups.api, open: (world) => openGatewayReplica(replica, world) }
})

export interface GatewayReplicaOptions extends ReplicaOptions, GatewayGroups {
  /** The certificate for clients. */
  readonly pair: KeyPair
  /** Signs tokens of service accounts if the settings have no key for that. */
  readonly ownSigningKey?: SigningKey
  /** Authorities of client certificates in addition to those of `--client-ca-file`, PEM; '' for none. */
  readonly ownClients: string
  readonly storageAddresses: readonly string[]
  readonly watchAddresses: readonly string[]
  readonly admission: AdmissionPlace
  /** Undefined or empty if no node is reachable. */
  readonly nodesAddresses?: readonly string[]
  /** The client certificate of all gateways for aggregated servers; by default that of the settings. */
  readonly frontProxy?: FrontProxy | undefined
  /** The address of this gateway for others; detected if empty. */
  readonly advertiseAddress: string
}

/** A gateway, and the promise of its being ready. */
export interface GatewayReplica extends Replica {
  /** Resolves when the bootstrap objects exist; rejects if the storage belongs to another profile. */
  readonly ready: Promise<void>
}

/** Maximum delay between two attempts to create the bootstrap objects. */
const bootstrapDelayMsMax = 2_000

/** Maximum wait at the start for other services. After it the gateway listens, and reports the missing services. */
const companyWaitMs = 5_000

/** A gateway over services in other processes. It listens soon, with or without them, and is ready when storage has answered. */
export async function openGatewayReplica(options: GatewayReplicaOptions, world: Omit<Surroundings, 'lifecycle'>): Promise<GatewayReplica> {
  const { promise: ready, resolve, reject } = Promise.withResolvers<void>()
  ready.catch(() => {})
  const surroundings = { ...world, faults: faultsOf(options, world) }
  const replica = await assembleReplica({ ...options, metricReleases: options.serving.metricReleases }, surroundings, async (assembly) => {
    const { catalogue, lifecycle, metrics, rpc } = assembly
    const storage = dialStorage(options.storageAddresses, assembly)
    const watch = lifecycle.opened('connections to watch', dialContract(watchContract, { ...rpc, addresses: options.watchAddresses }))
    const nodes = dialNodes(options.nodesAddresses, assembly)
    const admission = await reachAdmission(options.admission, { storage: storage.service, nodes }, assembly)
    await firstOf(Promise.all([storage.met, watch.reached, admission.reached]), companyWaitMs, assembly)
    let problem: string | undefined = 'the bootstrap objects are being made'
    const gateway = await openGateway(
      {
        ...options,
        storage: storage.service,
        watch: watch.service,
        admission: withUnservedVersions(
          admission.service,
          catalogue,
          catalogueOf(everythingServed(catalogue.names.profile, [printRelease(catalogue.level)])),
        ),
        nodes,
        metrics,
        checks: [
          storage.check,
          storage.profileCheck,
          reachable('watch', watch),
          ...admission.checks,
          { name: 'bootstrap', condition: 'bootstrap', check: () => problem },
        ],
      },
      assembly,
    )
    const { serving, advertiseAddress } = options
    const { bindAddress, pathPrefix, shutdownDelayMs, watchGraceMs } = serving
    lifecycle.onStop('gateway', () => gateway.close({ delayMs: shutdownDelayMs, graceMs: watchGraceMs, finishesRequests: true }))
    const certificates = openPortCertificates({ ...options, ownPair: options.pair }, assembly)
    const { authorities } = certificates
    const port = await listenForClients(gateway, { serving, certificates, advertiseAddress })
    const starting = storage.met.then(() => keepStartObjects({ gateway, storage: storage.service, port, authorities }, options, assembly))
    starting.then(() => {
      problem = undefined
      resolve()
    }, reject)
    return { address: `https://${printHost(bindAddress)}:${port}${pathPrefix}`, checks: [] }
  })
  return { ...replica, ready }
}

/** Resolves with the awaited value, or after a timeout; rejects with its error. */
async function firstOf(awaited: Promise<unknown>, waitMs: number, { clock }: Pick<Surroundings, 'clock'>): Promise<void> {
  const enough = new AbortController()
  await Promise.race([awaited, sleep(clock, waitMs, enough.signal)]).finally(() => enough.abort())
}

interface StartObjects {
  readonly gateway: Gateway
  readonly storage: StorageService
  readonly port: number
  readonly authorities: AuthoritySource
}

/** Creates the bootstrap objects, and then restores them. */
async function keepStartObjects(
  { gateway, storage, port, authorities }: StartObjects,
  options: GatewayReplicaOptions,
  assembly: Assembly,
): Promise<void> {
  const { catalogue, chance, clock, lifecycle, log } = assembly
  const { names } = catalogue
  const { serving, advertiseAddress } = options
  const start = startObjectsOf([], { ...options, gateway, metrics: assembly.metrics, authorities }, assembly)
  const { clientAs, objects } = start
  const serviceAddress = addressAt(options.objects.serviceClusterIpRange[0], 1)
  const roster = createGatewayRoster({
    storage,
    own: { address: advertiseAddress === '' ? advertisedAddress(serving.bindAddress) : advertiseAddress, port },
    clock,
    writeId: chance.stream('write id').uuid,
    log,
    async onGateways(advertised) {
      const wanted = gatewayObjects({ names, serviceAddress, advertised })
      await bootstrap(clientAs(serverIdentity), wanted)
      await removeEndpointSlices(clientAs(serverIdentity), names, wanted)
    },
  })
  const ending = new AbortController()
  lifecycle.onStop('bootstrap objects', () => {
    ending.abort()
    return roster.close()
  })
  for (let attempt = 1; !ending.signal.aborted; attempt += 1) {
    try {
      await start.make()
      await roster.renew()
      break
    } catch (error) {
      if (ending.signal.aborted) return
      log.warn({ err: error, attempt }, 'the bootstrap objects could not be made yet')
      await sleep(clock, retryDelayMs({ attempt, maxMs: bootstrapDelayMsMax, random: chance.fraction() }), ending.signal)
    }
  }
  if (ending.signal.aborted) return
  roster.keep()
  start.follow()
  await runControllers({ controllers: ['bootstrap'], objects, clientAs, metrics: assembly.metrics }, assembly)
}

/**
 * Admission for a gateway with disabled resources. The services behind gateways know every version of every resource; only the gateway knows the
 * equivalent ones that it serves, and sends them with each request.
 */
export function withUnservedVersions(admission: AdmissionService, served: Catalogue, everything: Catalogue): AdmissionService {
  const unserved = unservedByPrefix(served, everything)
  if (unserved.size === 0) return admission
  return {
    admit(request, context) {
      const { attributes } = request
      const prefix = served.find(attributes.group, attributes.version, attributes.resource)?.stored.prefix ?? ''
      const closed = unserved.get(prefix)
      return admission.admit(closed === undefined ? request : { ...request, attributes: { ...attributes, unserved: closed } }, context)
    },
    outcome: (request, context) => admission.outcome(request, context),
    admissionRules: (request, context) => admission.admissionRules(request, context),
  }
}

/** By storage prefix, the unserved equivalents. */
function unservedByPrefix(served: Catalogue, everything: Catalogue): ReadonlyMap<string, readonly string[]> {
  const isServed = ({ group, version, plural }: Resource) => served.find(group, version, plural) !== undefined
  const closed = everything.resources.filter((resource) => !isServed(resource))
  const names = Map.groupBy(closed, ({ stored }) => stored.prefix)
  return new Map([...names].map(([prefix, resources]) => [prefix, resources.map((one) => `${one.group}/${one.version}/${one.plural}`)]))
}

interface GatewayRosterOptions extends Pick<Surroundings, 'clock' | 'log'> {
  readonly storage: StorageService
  /** This gateway's own. */
  readonly own: GatewayAddress
  /** Draws the id of a write. */
  readonly writeId: () => string
  /** Called with all gateways, sorted, at each renewal. */
  readonly onGateways: (gateways: readonly GatewayAddress[]) => Promise<void>
}

/** Storage prefix of the entries, which no request can address. */
const prefix = 'gateways'
/** Expiry of an entry in storage: three missed renewals. */
const entryLifeMs = 15_000
const renewalIntervalMs = 5_000

/** A roster of gateways: one entry in storage for each, which expires after its gateway has ended. */
export function createGatewayRoster({ storage, own, clock, writeId: drawWriteId, log, onGateways }: GatewayRosterOptions) {
  const name = printAddress(own)
  const key = `${prefix}/${name}`
  const ending = new AbortController()
  let keeping: Promise<void> | undefined
  const enter = async () => {
    const writeId = drawWriteId()
    const encoded = encodeObject({ kind: 'Gateway', metadata: { name } })
    const expiresAtMs = clock.now() + entryLifeMs
    const value = encodeStored({ fingerprint: schemaFingerprint, writeId, expiresAtMs, encoded, labels: {}, fields: {} })
    const { entry } = await storage.get({ key, read: { kind: 'latest' } })
    await storage.commit({ key, expected: entry?.revision ?? 0, conditions: [], value, writeId })
  }
  const renew = async () => {
    await enter()
    await onGateways(await list(storage))
  }
  const keep = async () => {
    for (;;) {
      await sleep(clock, renewalIntervalMs, ending.signal, { background: true })
      if (ending.signal.aborted) return
      await renew().catch((error: unknown) => {
        if (!ending.signal.aborted) log.warn({ err: error }, 'the entry of this gateway could not be renewed')
      })
    }
  }
  return {
    /** Registers this gateway and reports all; rejects if storage refuses. */
    renew,
    /** Renews until the roster is closed. */
    keep() {
      keeping ??= keep()
    },
    /** Removes this gateway. */
    async close() {
      ending.abort()
      await keeping
      await leave(storage, key, drawWriteId()).catch((error: unknown) =>
        log.debug({ err: error }, 'the entry of this gateway is left to expire'),
      )
    },
  }
}

async function leave(storage: StorageService, key: string, writeId: string): Promise<void> {
  const { entry } = await storage.get({ key, read: { kind: 'latest' } }, { timeoutMs: renewalIntervalMs })
  if (entry === undefined) return
  await storage.commit({ key, expected: entry.revision, conditions: [], writeId }, { timeoutMs: renewalIntervalMs })
}

async function list(storage: StorageService): Promise<GatewayAddress[]> {
  const names: string[] = []
  for await (const page of listEntries(storage, { resource: prefix })) names.push(...page.map(({ key }) => key.slice(prefix.length + 1)))
  return names.sort().map(parseAddress)
}

/** The port first, as an address may contain colons. */
function printAddress({ address, port }: GatewayAddress): string {
  return `${port}_${address}`
}

function parseAddress(name: string): GatewayAddress {
  const cut = name.indexOf('_')
  return { port: Number(name.slice(0, cut)), address: name.slice(cut + 1) }
}
