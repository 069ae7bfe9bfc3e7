import { canSharePorts } from '@orch/gateway'
import { type Log, SettingsError, settingsOf, settingTypes } from '@orch/platform'
import type { GatewayGroups } from '../gateway/settings.ts'
import { isLoopback } from '../serving/loopback.ts'

const { int } = settingTypes
const setting = settingsOf('Serving')

/** The setting of the number of threads. */
export const threadsSettings = {
  threads: setting(
    { flag: '--threads', type: int({ min: 1, max: 16 }), default: '1' },
    'Experimental. How many threads take requests, each of them some of the connections (Linux). The first one also holds the objects. See docs/how-to/threads.md.',
  ),
}

/** The options that several threads exclude. */
interface ThreadedOptions extends Pick<GatewayGroups, 'flowControl' | 'serving'> {
  readonly settings: { readonly threads: number; readonly distributed: boolean }
}

/** Refuses settings that exclude `--threads` above 1. */
export function checkThreads({ settings, flowControl, serving }: ThreadedOptions): void {
  const { threads, distributed } = settings
  if (threads === 1) return
  const flag = `--threads=${threads}`
  if (distributed) throw new SettingsError(`${flag} with --distributed: gateways are processes there; see --gateways`)
  // A port without TLS and its sessions belong to one thread; the TLS port belongs to all threads.
  if (serving.console === 'true' && !isLoopback(serving.bindAddress))
    throw new SettingsError(
      `${flag} with --console=true and --bind-address=${serving.bindAddress}: a session is of one thread, which only a loopback address reaches`,
    )
  for (const [bound, max] of [
    ['--max-requests-inflight', flowControl.readsMax],
    ['--max-mutating-requests-inflight', flowControl.writesMax],
  ] as const) {
    if (max > 0 && max < threads)
      throw new SettingsError(`${flag} with ${bound}=${max}: threads divide it, so it is at least ${threads}, or 0`)
  }
}

/** The number of threads on this machine: more than one if threads can share a port. */
export function threadsHere(threads: number, log: Log, canShare = canSharePorts): number {
  if (threads === 1 || canShare) return threads
  log.warn({ threads }, 'threads can share a port on Linux alone: one thread takes all requests')
  return 1
}
