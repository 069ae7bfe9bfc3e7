import { existsSync, readFileSync } from 'node:fs'

/** Time in ms that a process's main thread has waited for a CPU so far; 0 if the system does not report it or the process is absent. */
export function cpuWaitMs(pid: number | undefined): number {
  const file = `/proc/${pid}/schedstat`
  return pid === undefined || !existsSync(file) ? 0 : Number(readFileSync(file, 'utf8').split(' ')[1]) / 1e6
}

/** Samples of the processes' waits for a CPU. */
export type CpuWaits = ReturnType<typeof watchCpuWaits>

const sampleMs = 100

/** Begins to sample these processes and this process. The checks do not blame the processes for a busy machine. */
export function watchCpuWaits(pids: () => readonly (number | undefined)[]) {
  const samples: { readonly atMs: number; readonly waitedMs: ReadonlyMap<number, number> }[] = []
  const take = () => {
    const known = [process.pid, ...pids()].filter((pid) => pid !== undefined)
    samples.push({ atMs: performance.now(), waitedMs: new Map(known.map((pid) => [pid, cpuWaitMs(pid)])) })
  }
  take()
  const timer = setInterval(take, sampleMs)
  return {
    /** The longest time that any of the processes has waited for a CPU between two moments of the monotonic clock. */
    between(fromMs: number, untilMs: number) {
      const first = samples.findLast(({ atMs }) => atMs <= fromMs)
      const last = samples.find(({ atMs }) => atMs >= untilMs) ?? samples.at(-1)
      const waits = [...(last?.waitedMs ?? [])].map(([pid, waitedMs]) => waitedMs - (first?.waitedMs.get(pid) ?? waitedMs))
      return Math.max(0, ...waits)
    },
    close: () => clearInterval(timer),
  }
}
