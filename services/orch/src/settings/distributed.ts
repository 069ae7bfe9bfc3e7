import { setting, settingTypes } from '@orch/platform'

const { bool, duration, int, list, path, string } = settingTypes

/** Where a service behind the gateway listens for the others. */
export function listenSettings(defaultAddress: string) {
  return {
    listen: setting({
      flag: '--listen',
      env: 'ORCH_LISTEN',
      type: string,
      default: defaultAddress,
      group: 'Between services',
      doc: 'Host and port for calls of other services; port 0 takes any free one.',
    }),
  }
}

/** Where a process answers for its health. */
export function probeSettings(defaultAddress: string) {
  return {
    probeAddress: setting({
      flag: '--probe-address',
      env: 'ORCH_PROBE_ADDRESS',
      type: string,
      default: defaultAddress,
      group: 'Process',
      doc: 'Host and port for /healthz, /livez, /readyz and /metrics, and nothing else: plain HTTP on a loopback address, elsewhere HTTPS for clients with a certificate of --service-ca.',
    }),
  }
}

/** How a process that serves others ends. */
export const shutdownSettings = {
  shutdownDelayMs: setting({
    flag: '--shutdown-delay-duration',
    env: 'ORCH_SHUTDOWN_DELAY_DURATION',
    type: duration,
    default: '0s',
    group: 'Process',
    doc: 'How long the process goes on after a signal to stop, with /readyz failing, before it takes no more calls.',
  }),
}

/** How services know one another. */
export const trustSettings = {
  serviceCertificate: setting({
    flag: '--service-certificate',
    env: 'ORCH_SERVICE_CERTIFICATE',
    type: path,
    default: '',
    group: 'Between services',
    doc: 'Certificate by which this process is known to other services; it names the role. Read again when it changes.',
  }),
  serviceKey: setting({
    flag: '--service-key',
    env: 'ORCH_SERVICE_KEY',
    type: path,
    default: '',
    group: 'Between services',
    doc: 'Private key that belongs to --service-certificate.',
  }),
  serviceCa: setting({
    flag: '--service-ca',
    env: 'ORCH_SERVICE_CA',
    type: path,
    default: '',
    group: 'Between services',
    doc: 'Authorities of the certificates that other services show.',
  }),
  insecureTransport: setting({
    flag: '--insecure-transport',
    env: 'ORCH_INSECURE_TRANSPORT',
    type: bool,
    default: 'false',
    group: 'Between services',
    doc: 'Allows connections to other services, etcd and NATS without encryption beyond this machine. Whoever reaches them may then do everything.',
  }),
}

function addressSettings<N extends string>(name: N, service: string, replicas: string) {
  const declared = setting({
    flag: `--${service}-address`,
    env: `ORCH_${service.toUpperCase()}_ADDRESS`,
    type: list,
    default: '',
    group: 'Between services',
    doc: `Where ${service} is: host:port of each replica, or dns:///name:port for all that a name stands for. ${replicas}`,
  })
  // The name is the only key.
  return { [name]: declared } as Record<N, typeof declared>
}

/** Where storage is. */
export const storageAddressSettings = addressSettings('storageAddress', 'storage', 'Each call goes to the one with the fewest under way.')
/** Where watch is. */
export const watchAddressSettings = addressSettings('watchAddress', 'watch', 'A watch goes on elsewhere when its replica ends.')
/** Where admission is. */
export const admissionAddressSettings = addressSettings(
  'admissionAddress',
  'admission',
  'Writes that it wants to see wait for one of them.',
)

/** How storage reaches etcd. */
export const etcdSettings = {
  etcdServers: setting({
    flag: '--etcd-servers',
    env: 'ORCH_ETCD_SERVERS',
    type: list,
    default: '',
    group: 'etcd',
    doc: 'Where etcd is: https://host:port of each member.',
  }),
  etcdPrefix: setting({
    flag: '--etcd-prefix',
    env: 'ORCH_ETCD_PREFIX',
    type: string,
    default: '',
    defaultDoc: '/<profile>',
    group: 'etcd',
    doc: 'Below what all keys stand, so that several control planes can share one etcd.',
  }),
  etcdCaFile: setting({
    flag: '--etcd-cafile',
    env: 'ORCH_ETCD_CAFILE',
    type: path,
    default: '',
    group: 'etcd',
    doc: 'Authorities of the certificates that etcd shows.',
  }),
  etcdCertFile: setting({
    flag: '--etcd-certfile',
    env: 'ORCH_ETCD_CERTFILE',
    type: path,
    default: '',
    group: 'etcd',
    doc: 'Certificate to show to etcd. What belongs to etcd is read at the start: replicas are restarted one after the other when it changes.',
  }),
  etcdKeyFile: setting({
    flag: '--etcd-keyfile',
    env: 'ORCH_ETCD_KEYFILE',
    type: path,
    default: '',
    group: 'etcd',
    doc: 'Private key that belongs to --etcd-certfile.',
  }),
  etcdUsername: setting({
    flag: '--etcd-username',
    env: 'ORCH_ETCD_USERNAME',
    type: string,
    default: '',
    group: 'etcd',
    doc: 'User of etcd, where it asks for one.',
  }),
  etcdPasswordFile: setting({
    flag: '--etcd-password-file',
    env: 'ORCH_ETCD_PASSWORD_FILE',
    type: path,
    default: '',
    group: 'etcd',
    doc: 'File with the password of --etcd-username.',
  }),
}

/** How changes travel over NATS. */
export const natsSettings = {
  natsServers: setting({
    flag: '--nats-servers',
    env: 'ORCH_NATS_SERVERS',
    type: list,
    default: '',
    group: 'NATS',
    doc: 'Where NATS is: host:port of each server. Without it watch reads the changes from storage.',
  }),
  natsStream: setting({
    flag: '--nats-stream',
    env: 'ORCH_NATS_STREAM',
    type: string,
    default: '',
    group: 'NATS',
    doc: 'Part of the name of the stream, so that several control planes can share one NATS. Storage and watch must be given the same.',
  }),
  natsCaFile: setting({
    flag: '--nats-cafile',
    env: 'ORCH_NATS_CAFILE',
    type: path,
    default: '',
    group: 'NATS',
    doc: 'Authorities of the certificates that NATS shows.',
  }),
  natsCertFile: setting({
    flag: '--nats-certfile',
    env: 'ORCH_NATS_CERTFILE',
    type: path,
    default: '',
    group: 'NATS',
    doc: 'Certificate to show to NATS. Certificates and --nats-credsfile are read again at each connection, a password at the start.',
  }),
  natsKeyFile: setting({
    flag: '--nats-keyfile',
    env: 'ORCH_NATS_KEYFILE',
    type: path,
    default: '',
    group: 'NATS',
    doc: 'Private key that belongs to --nats-certfile.',
  }),
  natsUsername: setting({
    flag: '--nats-username',
    env: 'ORCH_NATS_USERNAME',
    type: string,
    default: '',
    group: 'NATS',
    doc: 'User of NATS, where it asks for one.',
  }),
  natsPasswordFile: setting({
    flag: '--nats-password-file',
    env: 'ORCH_NATS_PASSWORD_FILE',
    type: path,
    default: '',
    group: 'NATS',
    doc: 'File with the password of --nats-username.',
  }),
  natsCredsFile: setting({
    flag: '--nats-credsfile',
    env: 'ORCH_NATS_CREDSFILE',
    type: path,
    default: '',
    group: 'NATS',
    doc: 'File with credentials of NATS, as its own tools write them.',
  }),
}

/** How storage, which makes it, keeps the stream of changes in NATS. */
export const natsStreamSettings = {
  natsStreamReplicas: setting({
    flag: '--nats-stream-replicas',
    env: 'ORCH_NATS_STREAM_REPLICAS',
    type: int({ min: 1, max: 5 }),
    default: '1',
    group: 'NATS',
    doc: 'Servers of a NATS cluster that hold the stream. With one, watch reads the changes from storage while that server is away.',
  }),
}
