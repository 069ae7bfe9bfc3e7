import { retryDelayMs, sleep } from '@orch/platform'
import type { Surroundings } from '../surroundings.ts'

export interface ChangedKeysOptions extends Pick<Surroundings, 'storage' | 'clock' | 'log' | 'random'> {
  /** Storage prefixes of the resources. */
  readonly resources: readonly string[]
  readonly onChange: (key: string) => void
  /** From here on every change is received until `lost`. */
  readonly onWatching: () => void
  /** Changes may have been missed. */
  readonly onLost: () => void
  readonly signal: AbortSignal
}

/** Maximum delay between two attempts to watch again. */
const retryMsMax = 5_000

/** Reports which objects change, without caching them. Ends with the signal. */
export async function watchKeys({
  storage,
  clock,
  log,
  random,
  resources,
  onChange,
  onWatching,
  onLost,
  signal,
}: ChangedKeysOptions): Promise<void> {
  for (let attempt = 1; !signal.aborted; attempt += 1) {
    try {
      const { revision, epoch } = await storage.status({}, { signal })
      onLost()
      onWatching()
      for await (const part of storage.changes({ after: revision, epoch, resources: [...resources] }, { signal })) {
        if (part.kind === 'expired' || part.epoch !== epoch) break
        if (part.kind === 'changes') for (const { key } of part.changes) onChange(key)
        attempt = 0
      }
    } catch (error) {
      if (!signal.aborted) log[attempt > 1 ? 'warn' : 'debug']({ err: error, resources, attempt }, 'changes cannot be watched')
    }
    onLost()
    if (!signal.aborted) await sleep(clock, retryDelayMs({ attempt, maxMs: retryMsMax, random: random() }), signal)
  }
}
