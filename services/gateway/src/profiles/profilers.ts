import type { Session } from 'node:inspector/promises'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { type Clock, sleep } from '@orch/platform'
import { heapIntervalBytes } from './intervals.ts'

/** The duration of a profile; the signal ends it early. */
export interface ProfileTime {
  readonly clock: Clock
  readonly durationMs: number
  readonly signal: AbortSignal
}

/** A profile of the same kind is being taken. */
export class ProfilerBusyError extends Error {}

/** V8's profilers of this thread: one profile of each kind at a time. */
export class Profilers {
  readonly #busy = new Set<string>()

  /** Takes a profile from now on: gzipped for pprof, or the JSON of V8. */
  async take(which: 'profile' | 'heap', format: 'pprof' | 'v8', time: ProfileTime): Promise<Uint8Array> {
    if (this.#busy.has(which)) throw new ProfilerBusyError(`${which} profiling already in use`)
    this.#busy.add(which)
    // Loaded lazily, as few processes take a profile.
    const { Session } = await import('node:inspector/promises')
    const { cpuToPprof, heapToPprof } = await import('./to-pprof.ts')
    const session = new Session()
    session.connect()
    try {
      if (which === 'profile') {
        const profile = await takeCpu(session, time)
        return format === 'v8' ? Buffer.from(JSON.stringify(profile)) : await packed(cpuToPprof(profile, time.clock.now()))
      }
      const profile = await takeHeap(session, time)
      return format === 'v8' ? Buffer.from(JSON.stringify(profile)) : await packed(heapToPprof(profile, time.clock.now()))
    } finally {
      session.disconnect()
      this.#busy.delete(which)
    }
  }
}

const packed = promisify(gzip) as (bytes: Uint8Array) => Promise<Buffer>

async function takeCpu(session: Session, { clock, durationMs, signal }: ProfileTime) {
  await session.post('Profiler.enable')
  await session.post('Profiler.start')
  await sleep(clock, durationMs, signal)
  const { profile } = await session.post('Profiler.stop')
  return profile
}

async function takeHeap(session: Session, { clock, durationMs, signal }: ProfileTime) {
  await session.post('HeapProfiler.startSampling', { samplingInterval: heapIntervalBytes })
  await sleep(clock, durationMs, signal)
  const { profile } = await session.post('HeapProfiler.stopSampling')
  return profile
}
