import { canSharePorts } from '@orch/gateway'
import { type Log, SettingsError } from '@orch/platform'
import type { GatewayGroups } from '../gateway/options.ts'
import { isTracingOn } from '../telemetry/open.ts'

/** What does not go with several threads, since each would keep or write it apart. */
interface ThreadedOptions extends Pick<GatewayGroups, 'audit' | 'flowControl'> {
  readonly settings: { readonly threads: number; readonly distributed: boolean }
}

/** Refuses settings that would not hold, or hold once per thread, with `--threads` above 1. */
export function checkThreads({ settings, ...options }: ThreadedOptions, env: Readonly<Record<string, string | undefined>>): void {
  const { threads, distributed } = settings
  if (threads === 1) return
  const flag = `--threads=${threads}`
  if (distributed) throw new SettingsError(`${flag} with --distributed: gateways are processes there; see --gateways`)
  const { flowControl, audit } = options
  const once: readonly (readonly [setting: string, isGiven: boolean, reason: string])[] = [
    ['audit backends', audit !== undefined, 'events of several threads would come out of order in a file that each of them rotates'],
    ['traces (OTEL_* variables)', isTracingOn(env), 'only those of the first thread would be sent'],
  ]
  for (const [setting, isGiven, reason] of once) {
    if (isGiven) throw new SettingsError(`${flag} with ${setting}: ${reason}; use --threads=1`)
  }
  for (const [bound, max] of [
    ['--max-requests-inflight', flowControl.readsMax],
    ['--max-mutating-requests-inflight', flowControl.writesMax],
  ] as const) {
    if (max > 0 && max < threads)
      throw new SettingsError(`${flag} with ${bound}=${max}: threads divide it, so it is at least ${threads}, or 0`)
  }
}

/** How many threads take requests on this machine: more than one where they can share a port. */
export function threadsHere(threads: number, log: Log, canShare = canSharePorts): number {
  if (threads === 1 || canShare) return threads
  log.warn({ threads }, 'threads can share a port on Linux alone: one thread takes all requests')
  return 1
}
