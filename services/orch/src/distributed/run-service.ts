import type { Profile } from '@orch/core/names'
import type { HealthCheck } from '@orch/gateway'
import {
  createLifecycle,
  createLog,
  endOnFailure,
  type LogFormat,
  type LogLevel,
  sleep,
  stopOnSignal,
  systemChance,
  systemClock,
  type Timer,
} from '@orch/platform'
import { type ApiOptions, everythingServed } from '../api/settings.ts'
import type { TrustOptions } from '../certificates/service-trust.ts'
import { endWithStarter, printReadyLine, type Terminal } from '../process/terminal.ts'
import { catalogueOf, type Surroundings } from '../surroundings.ts'
import { openTelemetry } from '../telemetry/open.ts'
import { openProbes } from './probes.ts'
import type { Replica } from './replica.ts'
import { readListenAddress } from './settings.ts'

/** Interval of the only timer of a starting process: the maximum of a timer. */
const stayAliveMs = 2 ** 31 - 1

/** A service as a process. */
export interface ServiceProcess {
  /** `storage`: the command, and the service name in every log line. */
  readonly name: string
  readonly terminal: Terminal
  readonly settings: {
    readonly profile: Profile
    readonly logLevel: LogLevel
    readonly logFormat: LogFormat
    readonly emulatedVersion?: readonly string[]
    /** Undefined if the service's own port answers probes, and the service itself delays its end. */
    readonly probeAddress?: string
    readonly shutdownDelayMs?: number
  }
  readonly trust: TrustOptions
  /** The served API; undefined for everything, as gateways decide. */
  readonly api?: ApiOptions
  /** Opens the service, which may wait for other services. */
  open(world: Omit<Surroundings, 'lifecycle'>): Promise<Replica & { readonly ready?: Promise<void> }>
}

/** Runs a service until a signal ends the process, or its parent has ended. */
export async function runService(service: ServiceProcess): Promise<undefined> {
  const { name, settings, terminal, trust } = service
  const { probeAddress, shutdownDelayMs = 0 } = settings
  const address = probeAddress === undefined ? undefined : readListenAddress('--probe-address', probeAddress)
  const log = createLog({ level: settings.logLevel, format: settings.logFormat }).child({ service: name })
  endOnFailure({ source: process, log, exit: () => process.exit(1) })
  const clock = systemClock
  const state: State = { replica: undefined, isReady: false, isEnding: false }
  const scope = createLifecycle({ log })
  const hold = stayAlive()
  try {
    stopOnSignal({
      source: process,
      log,
      async stop() {
        log.info({}, 'stopping')
        state.isEnding = true
        // `/readyz` fails meanwhile, so that clients disconnect.
        await sleep(clock, address === undefined ? 0 : shutdownDelayMs)
        await scope.stop()
      },
    })
    const probes = address && (await openProbes({ address, tls: trust.tls, clock, log, probed: () => probed(state) }))
    if (probes !== undefined) scope.opened('probes', probes)
    const telemetry = scope.opened('telemetry', await openTelemetry({ service: name, env: terminal.env, clock, log }))
    endWithStarter()
    const catalogue = catalogueOf(service.api ?? everythingServed(settings.profile, settings.emulatedVersion))
    const replica = await service.open({ catalogue, clock, chance: systemChance, log, tracer: telemetry.tracer })
    // A signal meanwhile found nothing to stop.
    if (state.isEnding) return void (await replica.stop())
    state.replica = replica
    scope.onStop(name, () => replica.stop())
    await replica.ready
    state.isReady = true
    const where = {
      ...(replica.address === '' ? {} : { address: replica.address }),
      ...(probes === undefined ? {} : { probes: probes.url }),
    }
    log.info(where, 'ready')
    const text = `orch ${name} is ready${replica.address === '' ? '' : ` at ${replica.address}`}\n`
    terminal.out(printReadyLine(settings.logFormat, text, { service: name, ...where }))
    await terminal.notify?.({ kind: 'ready', ...where })
  } catch (error) {
    if (state.isEnding) return
    await scope.stop()
    throw error
  } finally {
    hold.cancel()
  }
}

/** A waiting process needs a timer to stay alive: timers of the clock do not hold it, and connections are opened and closed. */
function stayAlive(): Timer {
  const timer = setInterval(() => {}, stayAliveMs)
  return { cancel: () => clearInterval(timer) }
}

interface State {
  replica: Replica | undefined
  isReady: boolean
  isEnding: boolean
}

function probed({ replica, isReady, isEnding }: State) {
  const own: readonly HealthCheck[] = [
    { name: 'start', check: () => (isReady ? undefined : 'the process is starting') },
    { name: 'shutdown', check: () => (isEnding ? 'the process is shutting down' : undefined) },
  ]
  return { checks: [...own, ...(replica?.checks ?? [])], metrics: replica?.metrics }
}
