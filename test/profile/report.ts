import type { Calls } from './calls.ts'
import { type Counts, type ThreadKind, threadKinds } from './processes.ts'
import { type Step, steps } from './steps.ts'

/** One process during a load. */
export interface Measured {
  /** `storage`, `etcd`. */
  readonly role: string
  readonly before: Counts
  readonly after: Counts
  /** Sampled microseconds of its main thread by step; undefined: it is not a Node.js process. */
  readonly times: ReadonlyMap<Step, number> | undefined
}

/** A run of a load. */
export interface Run {
  readonly operation: string
  readonly count: number
  readonly perSecond: number
  readonly ownMicros: number
  readonly processes: readonly Measured[]
  readonly calls: { readonly before: Calls; readonly after: Calls }
}

/** Programs that are not part of this project. */
const backends = new Set(['etcd', 'nats-server'])

/** The tables of a run. */
export function printReport(run: Run): string {
  return [printHead(run), printProcesses(run), printSteps(run), printCalls(run)].filter((part) => part !== '').join('\n')
}

/** CPU time of one operation in microseconds: of our processes, and of etcd and NATS. */
function totalsOf({ processes, count }: Pick<Run, 'processes' | 'count'>): { ours: number; backends: number } {
  const sum = (isBackend: boolean) =>
    processes
      .filter(({ role }) => backends.has(role) === isBackend)
      .reduce((total, { before, after }) => total + cpuOf(before, after) / count, 0)
  return { ours: sum(false), backends: sum(true) }
}

function printHead(run: Run): string {
  const { ours, backends: theirs } = totalsOf(run)
  const { operation, count, perSecond, ownMicros } = run
  const both = theirs === 0 ? '' : `, with etcd and NATS ${round(ours + theirs)}`
  return `${operation}: ${round(ours)} µs of CPU each${both}; ${round(perSecond)}/s (${count} in all, the load's own CPU ${round(ownMicros)} µs each, ratio ${((ours + theirs) / ownMicros).toFixed(1)})\n`
}

function printProcesses({ processes, count }: Run): string {
  const heads = ['process', 'µs', ...threadKinds, 'voluntary switches', 'involuntary', 'reads', 'KB', 'writes', 'KB']
  const rows = processes.map(({ role, before, after }) => {
    const each = (of: (counts: Counts) => number, digits = 1) => ((of(after) - of(before)) / count).toFixed(digits)
    return [
      role,
      round(cpuOf(before, after) / count),
      ...threadKinds.map((kind) => each(({ cpu }) => cpu[kind], 0)),
      each(({ voluntarySwitches }) => voluntarySwitches),
      each(({ involuntarySwitches }) => involuntarySwitches),
      each(({ reads }) => reads),
      each(({ readBytes }) => readBytes / 1000),
      each(({ writes }) => writes),
      each(({ writtenBytes }) => writtenBytes / 1000),
    ]
  })
  return printTable(heads, rows)
}

/** Shares of samples, scaled to the kernel's count of the main thread; V8's background threads have a separate column. */
function printSteps({ processes, count }: Run): string {
  const sampled = processes.filter(({ times }) => times !== undefined)
  if (sampled.length === 0) return ''
  const used = steps.filter((step) => step !== 'compile' && sampled.some(({ times }) => times?.has(step)))
  const rows = sampled.map(({ role, times = new Map<Step, number>(), before, after }) => {
    const main = threadOf('main', before, after) / count
    const all = [...times.values()].reduce((sum, time) => sum + time, 0)
    const own = used.map((step) => round(all === 0 ? 0 : (main * (times.get(step) ?? 0)) / all))
    return [role, ...own, round(threadOf('V8', before, after) / count)]
  })
  return printTable(['main thread, µs', ...used, "garbage and compile in V8's threads"], rows)
}

function printCalls({ calls, count }: Run): string {
  const rows = [...calls.after]
    .map(([name, after]) => [name, (after - (calls.before.get(name) ?? 0)) / count] as const)
    .filter(([, each]) => each >= 0.01)
    .sort(([, one], [, other]) => other - one)
    .map(([name, each]) => [name, each.toFixed(2)])
  return rows.length === 0 ? '' : printTable(['calls of other services', 'each'], rows)
}

/** A table in Markdown. */
function printTable(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |\n`
  return `${line(heads)}|${heads.map(() => '---|').join('')}\n${rows.map(line).join('')}`
}

function cpuOf(before: Counts, after: Counts): number {
  return threadKinds.reduce((sum, kind) => sum + threadOf(kind, before, after), 0)
}

function threadOf(kind: ThreadKind, before: Counts, after: Counts): number {
  return after.cpu[kind] - before.cpu[kind]
}

function round(value: number): string {
  return value.toFixed(value < 10 ? 1 : 0)
}
