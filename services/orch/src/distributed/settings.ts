import { X509Certificate } from 'node:crypto'
import { parseServiceIdentity, type ServiceRole } from '@orch/core/contracts'
import { SettingsError, settingsOf, settingTypes, type TlsFiles, type Values } from '@orch/platform'
import { admissionSettings } from '../admission/settings.ts'
import { gateSettings, objectsSettings } from '../api/settings.ts'
import { etcdSettings, natsSettings, natsStreamSettings } from '../backends/connections.ts'
import { readCertificateFile, readPairFiles } from '../configuration/files.ts'
import { accountKeySettings, controllersSettings, signingSettings } from '../controllers/settings.ts'
import { gatewaySettings } from '../gateway/settings.ts'
import { staysHere } from '../serving/loopback.ts'
import { generalSettings, nodesSettings, stateSettings, storageSettings } from '../settings/general.ts'

const { bool, duration, list, path, string } = settingTypes
const betweenServices = settingsOf('Between services')
const inProcess = settingsOf('Process')
const ofServing = settingsOf('Serving')
const ofControllers = settingsOf('Controllers')
const ofNodes = settingsOf('Nodes')

/** The settings of trust between services. */
export const trustSettings = {
  serviceCertificate: betweenServices(
    { flag: '--service-certificate', type: path },
    'Certificate of this process for other services; it contains the role. The file is reloaded when it changes.',
  ),
  serviceKey: betweenServices({ flag: '--service-key', type: path }, 'Private key of --service-certificate.'),
  serviceCa: betweenServices({ flag: '--service-ca', type: path }, 'Certificate authorities of the other services.'),
  insecureTransport: betweenServices(
    { flag: '--insecure-transport', type: bool, default: 'false' },
    'Allows unencrypted connections to other services, etcd and NATS beyond this machine. Any client that reaches them then has full access.',
  ),
}

/** The options of trust between services. */
export interface TrustOptions {
  /** Undefined without encryption. */
  readonly tls: TlsFiles | undefined
  /** True if unencrypted connections beyond this machine are allowed. */
  readonly insecureTransport: boolean
}

/** Checks that the three files are readable and belong together, and that the certificate has this role. */
export function readTrust(
  { serviceCertificate, serviceKey, serviceCa, insecureTransport }: Values<typeof trustSettings>,
  expected: ServiceRole,
): TrustOptions {
  const given = { '--service-certificate': serviceCertificate, '--service-key': serviceKey, '--service-ca': serviceCa }
  const missing = Object.entries(given).filter(([, path]) => path === '')
  if (missing.length === 3) return { tls: undefined, insecureTransport }
  if (missing.length > 0) throw new SettingsError(`${Object.keys(given).join(', ')} go together: ${missing[0]?.[0]} is missing`)
  const flags = {
    certificate: { flag: '--service-certificate', path: serviceCertificate },
    key: { flag: '--service-key', path: serviceKey },
  }
  const { certificate } = readPairFiles(flags)
  readCertificateFile('--service-ca', serviceCa)
  const role = roleIn(certificate)
  if (role !== expected) {
    const names = role === undefined ? 'names no role' : `is for the role ${role}`
    throw new SettingsError(`--service-certificate=${serviceCertificate}: the certificate ${names}, expected ${expected}`)
  }
  return { tls: { certificateFile: serviceCertificate, keyFile: serviceKey, authorityFile: serviceCa }, insecureTransport }
}

/** The role is a URI in the certificate's names. */
function roleIn(certificate: string): ServiceRole | undefined {
  const names = new X509Certificate(certificate).subjectAltName?.split(', ') ?? []
  const uris = names.filter((name) => name.startsWith('URI:')).map((name) => name.slice('URI:'.length))
  return uris.map(parseServiceIdentity).find((role) => role !== undefined)
}

/** The settings of the address of a service behind the gateway. */
export function listenSettings(defaultAddress: string) {
  return {
    listen: betweenServices(
      { flag: '--listen', type: string, default: defaultAddress },
      'Host and port for calls of other services; port 0 chooses a free one.',
    ),
  }
}

/** The settings of the address for probes. */
export function probeSettings(defaultAddress: string) {
  return {
    probeAddress: inProcess(
      { flag: '--probe-address', type: string, default: defaultAddress },
      'Host and port for /healthz, /livez, /readyz and /metrics only: plain HTTP on a loopback address, otherwise HTTPS for clients with a certificate of --service-ca.',
    ),
  }
}

/** The places of a service: its own process, or another one's. */
const places = ['service', 'in-process'] as const

/** The setting of a watch hosted by storage. */
export const hostedWatchSettings = {
  watch: betweenServices(
    { flag: '--watch', type: settingTypes.oneOf(places), default: 'service' },
    'service: watch is a service of its own. in-process: this process offers watch as well, at the address of --listen, and gateways have that address as --watch-address too; changes then need no NATS.',
  ),
}

/** The settings of the end of a serving process. */
export const shutdownSettings = {
  shutdownDelayMs: inProcess(
    { flag: '--shutdown-delay-duration', type: duration, default: '0s' },
    'Time in which the process keeps accepting calls after a termination signal, while /readyz fails.',
  ),
}

const addressOf = (service: string, replicas: string, word = service) =>
  betweenServices(
    { flag: `--${word}-address`, type: list },
    `Address of ${service}: host:port of each replica, or dns:///name:port for all addresses of a DNS name. ${replicas}`,
  )

export const storageAddressSettings = {
  storageAddress: addressOf('storage', 'Each call goes to the replica with the fewest calls in progress.'),
}
export const watchAddressSettings = { watchAddress: addressOf('watch', 'A watch moves to another replica when its replica ends.') }
export const admissionAddressSettings = {
  admissionAddress: addressOf('admission', 'Writes that match an admission rule wait for one of them.'),
  admission: betweenServices(
    { flag: '--admission', type: settingTypes.oneOf(places), default: 'service' },
    'service: admission is a service of its own, at --admission-address. in-process: the gateway hosts it, with the flags of the group Admission; a write then costs one call less, and webhooks are called by the gateway.',
  ),
}

/** The setting of the address of simulated nodes. */
export const nodesAddressSettings = {
  nodesAddress: addressOf(
    'the simulated nodes',
    'Logs and other requests for Pods on them go there, and calls to webhooks that these Pods serve. By default no node can be reached.',
    'nodes',
  ),
}

/** An address to listen on, in its parts. */
export type ListenAddress = ReturnType<typeof readListenAddress>

/** `127.0.0.1:7100`, `[::1]:7100`. */
export function readListenAddress(flag: string, text: string) {
  const found = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(text)
  const host = found?.[1] ?? found?.[2]
  const port = Number(found?.[3])
  if (host === undefined || port > 65_535) throw new SettingsError(`${flag}=${text}: must be a host and a port such as 127.0.0.1:7100`)
  return { host, port }
}

/** Addresses of a service's replicas; at least one, and connections beyond this machine are encrypted unless that is disabled. */
export function readServiceAddresses(
  flag: string,
  addresses: readonly string[],
  { tls, insecureTransport }: TrustOptions,
): readonly string[] {
  if (addresses.length === 0) throw new SettingsError(`${flag} is needed: where the service is, as host:port or dns:///name:port`)
  const wrong = addresses.find((address) => !/^(dns:\/\/\/)?[^/\s]+:\d{1,5}$/.test(address))
  if (wrong !== undefined) throw new SettingsError(`${flag}=${wrong}: must be host:port or dns:///name:port`)
  const open = tls === undefined && !insecureTransport ? addresses.find((address) => !staysHere(address)) : undefined
  if (open !== undefined) {
    throw new SettingsError(
      `${flag}=${open}: what leaves this machine must be encrypted: give --service-certificate, --service-key and --service-ca, or --insecure-transport`,
    )
  }
  return addresses
}

/** All settings of `orch storage`. */
export const storageCommandSettings = {
  ...generalSettings,
  emulatedVersion: gateSettings.emulatedVersion,
  ...listenSettings('127.0.0.1:7100'),
  ...hostedWatchSettings,
  ...trustSettings,
  ...etcdSettings,
  ...natsSettings,
  ...natsStreamSettings,
  dataDir: {
    ...stateSettings.dataDir,
    defaultDoc: '',
    doc: 'Folder for the state, instead of etcd. Only one storage can use it.',
  },
  ...storageSettings,
  ...probeSettings('127.0.0.1:7101'),
  ...shutdownSettings,
}

/** All settings of `orch watch`. */
export const watchCommandSettings = {
  ...generalSettings,
  emulatedVersion: gateSettings.emulatedVersion,
  ...listenSettings('127.0.0.1:7200'),
  ...storageAddressSettings,
  ...trustSettings,
  ...natsSettings,
  ...probeSettings('127.0.0.1:7201'),
  ...shutdownSettings,
}

/** All settings of `orch admission`. */
export const admissionCommandSettings = {
  ...generalSettings,
  ...listenSettings('127.0.0.1:7300'),
  ...storageAddressSettings,
  ...nodesAddressSettings,
  ...trustSettings,
  ...gateSettings,
  ...admissionSettings,
  ...probeSettings('127.0.0.1:7301'),
  ...shutdownSettings,
}

/** All settings of `orch gateway`. */
export const gatewayCommandSettings = {
  ...generalSettings,
  ...gatewaySettings,
  advertiseAddress: ofServing(
    { flag: '--advertise-address', type: settingTypes.string },
    "Address of this gateway in the Endpoints of the server's own Service. By default the address that it listens on, or the first address of this machine.",
  ),
  ...storageAddressSettings,
  ...watchAddressSettings,
  ...admissionAddressSettings,
  ...nodesAddressSettings,
  ...admissionSettings,
  ...trustSettings,
}

/** The settings of a service that is a client of the gateways. */
function clientSettings(group: ReturnType<typeof settingsOf>, { who, running }: { readonly who: string; readonly running: string }) {
  return {
    kubeconfig: group(
      { flag: '--kubeconfig', type: settingTypes.path },
      `Client configuration file with the server and the credentials of ${who}.`,
    ),
    servers: group(
      { flag: '--servers', type: settingTypes.list, defaultDoc: 'the server of --kubeconfig' },
      'URLs of the gateways, for use without a load balancer: when one cannot be reached, the next is tried.',
    ),
    leaderElect: group({ flag: '--leader-elect', type: settingTypes.bool, default: 'true' }, `Only one of several replicas ${running}.`),
  }
}

/** All settings of `orch controllers`. */
export const controllersCommandSettings = {
  ...generalSettings,
  emulatedVersion: gateSettings.emulatedVersion,
  ...clientSettings(ofControllers, {
    who: 'the controllers',
    running: 'runs the controllers: the holder of a Lease in the system namespace',
  }),
  impersonateServiceAccounts: ofControllers(
    { flag: '--impersonate-service-accounts', type: settingTypes.bool, default: 'true' },
    'Each controller impersonates a service account of its own, for which the user of --kubeconfig needs permission. Otherwise all controllers act as that user.',
  ),
  ...controllersSettings,
  ...accountKeySettings,
  ...signingSettings,
  ...trustSettings,
  ...probeSettings('127.0.0.1:7401'),
}

/** All settings of `orch nodes`. */
export const nodesCommandSettings = {
  ...generalSettings,
  emulatedVersion: gateSettings.emulatedVersion,
  ...listenSettings('127.0.0.1:7500'),
  ...clientSettings(ofNodes, {
    who: 'a user of the group system:masters, which impersonates each node',
    running: 'simulates the nodes: the holder of a Lease in the system namespace',
  }),
  simulatedNodes: {
    ...nodesSettings.simulatedNodes,
    default: '1',
    doc: 'Nodes to simulate, named node-1, node-2 and so on: they run Pods as kubelets do, without containers.',
  },
  serviceClusterIpRange: {
    ...objectsSettings.serviceClusterIpRange,
    doc: 'IP range for addresses of Services, as at the gateways: simulated nodes and their Pods have an address of each of its families.',
  },
  ...trustSettings,
  ...probeSettings('127.0.0.1:7501'),
  ...shutdownSettings,
}
