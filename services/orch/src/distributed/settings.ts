import { setting, settingTypes } from '@orch/platform'

const { duration, list, string } = settingTypes

/** Where a service behind the gateway listens for the others. */
export function listenSettings(defaultAddress: string) {
  return {
    listen: setting({
      flag: '--listen',
      env: 'ORCH_LISTEN',
      type: string,
      default: defaultAddress,
      group: 'Between services',
      doc: 'Host and port for calls of other services; port 0 chooses a free one.',
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
      doc: 'Host and port for /healthz, /livez, /readyz and /metrics only: plain HTTP on a loopback address, otherwise HTTPS for clients with a certificate of --service-ca.',
    }),
  }
}

/** Whether a service is one of its own, or hosted by another. */
const places = ['service', 'in-process'] as const

/** Whether storage hosts watch. */
export const hostedWatchSettings = {
  watch: setting({
    flag: '--watch',
    env: 'ORCH_WATCH',
    type: settingTypes.oneOf(places),
    default: 'service',
    group: 'Between services',
    doc: 'service: watch is a service of its own. in-process: this process offers watch as well, at the address of --listen, and gateways have that address as --watch-address too; changes then need no NATS.',
  }),
}

/** How a process that serves others ends. */
export const shutdownSettings = {
  shutdownDelayMs: setting({
    flag: '--shutdown-delay-duration',
    env: 'ORCH_SHUTDOWN_DELAY_DURATION',
    type: duration,
    default: '0s',
    group: 'Process',
    doc: 'How long the process keeps accepting calls after a termination signal, while /readyz fails.',
  }),
}

function addressSettings<N extends string>(name: N, service: string, replicas: string) {
  const declared = setting({
    flag: `--${service}-address`,
    env: `ORCH_${service.toUpperCase()}_ADDRESS`,
    type: list,
    default: '',
    group: 'Between services',
    doc: `Address of ${service}: host:port of each replica, or dns:///name:port for all addresses of a DNS name. ${replicas}`,
  })
  // The name is the only key.
  return { [name]: declared } as Record<N, typeof declared>
}

/** Where storage is. */
export const storageAddressSettings = addressSettings(
  'storageAddress',
  'storage',
  'Each call goes to the replica with the fewest calls in progress.',
)
/** Where watch is. */
export const watchAddressSettings = addressSettings('watchAddress', 'watch', 'A watch moves to another replica when its replica ends.')
/** Where admission is. */
export const admissionAddressSettings = {
  ...addressSettings('admissionAddress', 'admission', 'Writes that match an admission rule wait for one of them.'),
  admission: setting({
    flag: '--admission',
    env: 'ORCH_ADMISSION',
    type: settingTypes.oneOf(places),
    default: 'service',
    group: 'Between services',
    doc: 'service: admission is a service of its own, at --admission-address. in-process: the gateway hosts it, with the flags of the group Admission; a write then costs one call less, and webhooks are called by the gateway.',
  }),
}
