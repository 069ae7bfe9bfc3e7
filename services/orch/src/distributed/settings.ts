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
