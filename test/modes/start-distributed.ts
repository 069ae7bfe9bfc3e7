import { printConfiguration } from '@orch/client'
import type { ServiceRole } from '@orch/core/contracts'
import { namesOf } from '@orch/core/names'
import { certificateMemory, clientAuthority, serviceTlsFiles, silentLog, systemClock } from '@orch/platform'
import { freePorts } from '@orch/platform/backends'
import { everythingServed, everythingServedWith } from '../../services/orch/src/api/settings.ts'
import { keepSigningKey } from '../../services/orch/src/authentication/open.ts'
import {
  administratorConfiguration,
  configurationOfControllers,
  readServerCertificates,
} from '../../services/orch/src/certificates/clients.ts'
import { hasOwnFrontProxy, openFrontProxy } from '../../services/orch/src/certificates/gateway.ts'
import { type AdmissionPlace, openAdmissionReplica } from '../../services/orch/src/distributed/admission.ts'
import { openControllersReplica } from '../../services/orch/src/distributed/controllers.ts'
import { openGatewayReplica } from '../../services/orch/src/distributed/gateway.ts'
import { openNodesReplica } from '../../services/orch/src/distributed/nodes.ts'
import type { Replica } from '../../services/orch/src/distributed/replica.ts'
import { openStorageReplica } from '../../services/orch/src/distributed/storage.ts'
import { openWatchReplica } from '../../services/orch/src/distributed/watch.ts'
import { readServer } from '../../services/orch/src/settings/up.ts'
import { chanceOf, readStartSettings, type StartOptions } from '../../services/orch/src/start/start-settings.ts'
import { catalogueOf } from '../../services/orch/src/surroundings.ts'
import { openEtcdStore } from '../../services/storage/src/etcd/index.ts'

/** The backends of separate services, and the number of each service. */
export interface DistributedOptions {
  /** `http://127.0.0.1:2379`. */
  readonly etcdServers: readonly string[]
  /** `127.0.0.1:4222`. */
  readonly natsServers: readonly string[]
  /** The prefix of the state in etcd and of its changes in NATS. */
  readonly prefix: string
  /** The folder with the certificates for connections between services. */
  readonly serviceCertificates: string
  readonly gateways: number
  readonly storages: number
  readonly watches: number
  /** 0 if each gateway hosts its admission. */
  readonly admissions: number
}

/** Services in this process that call one another over gRPC with mutual TLS. */
export interface RunningServices extends AsyncDisposable {
  /** The URL of each gateway. */
  readonly urls: readonly string[]
  /** A client configuration file for the first gateway. */
  readonly kubeconfig: string
  stop(): Promise<void>
}

const anyPort = '127.0.0.1:0'

/** Starts separate services, each with its connections. They are ready when the promise resolves. */
export async function startDistributed(start: StartOptions, options: DistributedOptions): Promise<RunningServices> {
  const replicas: Replica[] = []
  const stop = async () => {
    for (const replica of replicas.reverse()) await replica.stop()
    replicas.length = 0
  }
  try {
    return { ...(await open(start, options, replicas)), stop, [Symbol.asyncDispose]: stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function open(start: StartOptions, options: DistributedOptions, replicas: Replica[]) {
  const settings = readStartSettings(start)
  const groups = { ...readServer(settings), flags: settings.flagTexts }
  const { profile, watchHistoryMs } = settings
  const clock = start.clock ?? systemClock
  const chance = chanceOf(start)
  const world = { chance, clock, log: start.log ?? silentLog }
  const inner = { ...world, catalogue: catalogueOf(everythingServed(profile, settings.emulatedVersion)) }
  const ofAdmission = { ...world, catalogue: catalogueOf(everythingServedWith(settings)) }
  const running = async <R extends Replica>(opened: Promise<R>): Promise<R> => {
    const replica = await opened
    replicas.push(replica)
    return replica
  }
  const as = (role: ServiceRole) => ({
    trust: { tls: serviceTlsFiles(options.serviceCertificates, role), insecureTransport: false },
    hasProcessMetrics: false,
  })
  const many = <R extends Replica>(count: number, one: () => Promise<R>) => Promise.all(Array.from({ length: count }, () => running(one())))
  const addressesOf = (opened: readonly Replica[]) => opened.map(({ address }) => address)

  const files = certificateMemory()
  const ownSigningKey = keepSigningKey(files)
  const names = namesOf(profile)
  const certificates = await readServerCertificates({ ...groups, files, names, hostName: 'localhost', adminKey: 'RSA', clock })
  const changeStream = { servers: options.natsServers, profile, prefix: options.prefix }
  const storageAddresses = addressesOf(
    await many(options.storages, async () => {
      const { etcdServers: servers, prefix } = options
      const store = await openEtcdStore({ clock, log: world.log, random: chance.fraction, randomId: chance.uuid, servers, prefix, profile })
      return openStorageReplica(
        { ...as('storage'), listen: anyPort, store, changeStream, watchHistoryMs, hostsWatch: options.watches === 0 },
        inner,
      )
    }),
  )
  const behind = { listen: anyPort, storageAddresses }
  const watching = many(options.watches, () => openWatchReplica({ ...as('watch'), ...behind, changeStream }, inner))
  // Nodes are clients of the gateways and also receive calls from them and from admission.
  const [nodesPort] = settings.simulatedNodes > 0 ? await freePorts(1) : []
  const nodesAddresses = nodesPort === undefined ? [] : [`127.0.0.1:${nodesPort}`]
  const admitting = many(options.admissions, () =>
    openAdmissionReplica({ ...as('admission'), ...behind, nodesAddresses, admission: groups.admission }, ofAdmission),
  )
  const admissionAddresses = addressesOf(await admitting)
  const admission: AdmissionPlace =
    admissionAddresses.length === 0
      ? { kind: 'in-process', settings: groups.admission }
      : { kind: 'service', addresses: admissionAddresses }
  const addresses = { storageAddresses, watchAddresses: options.watches === 0 ? storageAddresses : addressesOf(await watching), admission }
  const catalogue = catalogueOf(groups.api)
  const frontProxy = hasOwnFrontProxy(groups) ? await openFrontProxy({ files, clock }) : undefined
  const gateways = await many(options.gateways, () =>
    openGatewayReplica(
      {
        ...groups,
        ...as('gateway'),
        ...addresses,
        nodesAddresses,
        pair: groups.serving.servingPair ?? certificates.serving,
        ownSigningKey,
        frontProxy,
        ownClients: certificates.authority,
        advertiseAddress: '',
      },
      { ...world, catalogue },
    ),
  )
  await Promise.all(gateways.map(({ ready }) => ready))
  const urls = addressesOf(gateways)
  const configuration = administratorConfiguration({ url: urls[0] ?? '', serving: groups.serving, certificates, log: world.log })
  const kubeconfig = printConfiguration({ cluster: 'distributed', user: 'admin', configuration })
  const signingKey = groups.authentication.tokens.serviceAccounts.signingKey ?? ownSigningKey
  const secretTokens = { signingKey, certificateAuthority: configuration.certificateAuthority }
  const controllersConfiguration = await configurationOfControllers({ ...settings, configuration, files, clock })
  await running(
    openControllersReplica(
      {
        ...groups,
        ...as('controllers'),
        configuration: controllersConfiguration,
        servers: urls,
        controllers: groups.controllers.filter((name) => name !== 'bootstrap'),
        leaderElect: false,
        impersonates: true,
        secretTokens,
        signingAuthority: clientAuthority(files),
      },
      { ...world, catalogue },
    ),
  )
  for (const listen of nodesAddresses) {
    const { simulatedNodes: count, serviceClusterIpRange: serviceRanges } = settings
    const nodes = { ...as('nodes'), listen, configuration, servers: urls, count, serviceRanges, leaderElect: false }
    await (await running(openNodesReplica(nodes, { ...world, catalogue }))).ready
  }
  return { urls, kubeconfig }
}
