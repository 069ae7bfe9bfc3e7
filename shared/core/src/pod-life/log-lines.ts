import type { ContainerStatus } from './phase.ts'

/** Lines that a container logs, by the time since its start. */
export type LogEntry = {
  readonly text: string
  readonly isError?: boolean
} & (
  | { readonly kind: 'at'; readonly atMs: number }
  /** Repeats every `everyMs`; `${n}` in the text is the number of the line, from 1. */
  | { readonly kind: 'every'; readonly everyMs: number }
  /** A line at the end of the run; `${code}` in the text is the exit code. */
  | { readonly kind: 'end' }
)

/** One run of a container. */
export interface LogRun {
  /** `containerd://…`. */
  readonly id: string
  readonly startedMs: number
  /** Undefined while it is running. */
  readonly end?: { readonly atMs: number; readonly exitCode: number }
}

/** A line without its line break. */
export interface LogLine {
  readonly timeMs: number
  readonly text: string
  readonly isError: boolean
  /** True for a line without an end. */
  readonly isPartial?: boolean
}

/** Number of readable lines, counted from the end of a run, and of their characters; a kubelet's log file is 10 MiB. */
export const logLinesMax = 20_000
const logCharactersMax = 10 * 1024 * 1024

/** Maximum number of entries in a script's log, since each read line is searched among them. */
export const logEntriesMax = 100

/** The default log of a container: a line at the start and a line at the end. */
export function usualLog(container: string, image: string): readonly LogEntry[] {
  return [
    { kind: 'at', atMs: 0, text: `${container}: started, simulated from image ${image}` },
    { kind: 'end', text: `${container}: ended with exit code \${code}` },
  ]
}

interface LinesWanted {
  /** Only lines after this time. Default: from the start. */
  readonly afterMs?: number
  readonly untilMs: number
  readonly linesMax: number
}

/** An entry with its position while reading backwards. */
interface Backwards {
  readonly order: number
  timeMs: number
  number: number
}

/**
 * The last `linesMax` lines of a run up to a time, in order. They are computed backwards from the end, so that the
 * work depends on the numbers of lines and entries, not on the length of the run.
 *
 *   every 1s "tick ${n}", started at 0, until 3,500, linesMax 2 → 2,000 tick 2, 3,000 tick 3
 */
export function logLines(entries: readonly LogEntry[], run: LogRun, { afterMs, untilMs, linesMax }: LinesWanted): LogLine[] {
  const lastMs = Math.min(untilMs, run.end?.atMs ?? Number.POSITIVE_INFINITY)
  const waiting: Backwards[] = entries.flatMap((entry, order) => lastOf(entry, order, run, lastMs) ?? [])
  const lines: LogLine[] = []
  let characters = 0
  while (lines.length < Math.min(linesMax, logLinesMax) && characters < logCharactersMax) {
    let latest: Backwards | undefined
    for (const one of waiting) if (latest === undefined || isLater(one, latest)) latest = one
    if (latest === undefined || (afterMs !== undefined && latest.timeMs <= afterMs)) break
    const entry = entries[latest.order]
    if (entry === undefined) break
    const text = textOf(entry, latest.number, run)
    characters += text.length
    lines.push({ timeMs: latest.timeMs, text, isError: entry.isError === true })
    latest.number -= 1
    latest.timeMs = latest.number > 0 && entry.kind === 'every' ? latest.timeMs - entry.everyMs : Number.NEGATIVE_INFINITY
    if (latest.timeMs === Number.NEGATIVE_INFINITY) waiting.splice(waiting.indexOf(latest), 1)
  }
  return lines.reverse()
}

/** The time of the next line after a time; undefined if there is none or it depends on the end of the run. */
export function nextLineMs(entries: readonly LogEntry[], { startedMs, end }: LogRun, afterMs: number): number | undefined {
  if (end !== undefined) return end.atMs > afterMs ? end.atMs : undefined
  const times = entries.flatMap((entry) => {
    if (entry.kind === 'end') return []
    if (entry.kind === 'at') return startedMs + entry.atMs > afterMs ? [startedMs + entry.atMs] : []
    const number = Math.max(0, Math.floor((afterMs - startedMs) / entry.everyMs))
    return [startedMs + (number + 1) * entry.everyMs]
  })
  return times.length === 0 ? undefined : Math.min(...times)
}

/** The last line of an entry up to a time. */
function lastOf(entry: LogEntry, order: number, { startedMs, end }: LogRun, lastMs: number): Backwards | undefined {
  switch (entry.kind) {
    case 'at': {
      const timeMs = startedMs + entry.atMs
      return timeMs <= lastMs ? { order, timeMs, number: 1 } : undefined
    }
    case 'every': {
      const number = Math.floor((lastMs - startedMs) / entry.everyMs)
      return number > 0 ? { order, timeMs: startedMs + number * entry.everyMs, number } : undefined
    }
    case 'end':
      return end !== undefined && end.atMs <= lastMs ? { order, timeMs: end.atMs, number: 1 } : undefined
  }
}

function isLater(one: Backwards, other: Backwards): boolean {
  return one.timeMs > other.timeMs || (one.timeMs === other.timeMs && one.order > other.order)
}

function textOf({ kind, text }: LogEntry, number: number, { end }: LogRun): string {
  switch (kind) {
    case 'at':
      return text
    case 'every':
      return text.replaceAll(`\${n}`, String(number))
    case 'end':
      return text.replaceAll(`\${code}`, String(end?.exitCode ?? 0))
  }
}
type Terminated = NonNullable<NonNullable<ContainerStatus['state']>['terminated']>

/** The run whose log is read, or the reason why there is none, by the kubelet's validateContainerLogStatus. */
export type LogRunFound = { readonly kind: 'run'; readonly run: LogRun } | { readonly kind: 'refused'; readonly message: string }

/** Finds the run whose log is read. `previous` means the run before the last restart. */
export function findLogRun(
  pod: string,
  statuses: readonly ContainerStatus[],
  { container, previous }: { container: string; previous: boolean },
): LogRunFound {
  const refused = (why: string): LogRunFound => ({ kind: 'refused', message: why })
  const named = `container ${JSON.stringify(container)} in pod ${JSON.stringify(pod)}`
  const status = statuses.find(({ name }) => name === container)
  if (status === undefined) return refused(`${named} is not available`)
  const { running, terminated, waiting } = status.state ?? {}
  const last = status.lastState?.terminated
  const ended = (one: Terminated): LogRunFound => ({ kind: 'run', run: endedRun(one) })
  if (previous) return last?.containerID ? ended(last) : refused(`previous terminated ${named} not found`)
  if (running) return { kind: 'run', run: { id: status.containerID ?? '', startedMs: toMs(running.startedAt) } }
  if (terminated?.containerID) return ended(terminated)
  if (last?.containerID) return ended(last)
  if (terminated || last) return refused(`${named} is terminated`)
  if (!waiting) return refused(`${named} is waiting to start - no logs yet`)
  const problems: Readonly<Record<string, string>> = {
    ErrImagePull: "image can't be pulled",
    ImagePullBackOff: 'trying and failing to pull image',
  }
  return refused(`${named} is waiting to start: ${problems[waiting.reason ?? ''] ?? waiting.reason ?? ''}`)
}

function endedRun({ containerID = '', startedAt, finishedAt, exitCode }: Terminated): LogRun {
  const atMs = toMs(finishedAt)
  return { id: containerID, startedMs: startedAt ? toMs(startedAt) : atMs, end: { atMs, exitCode } }
}

function toMs(time: string | null | undefined): number {
  return time ? Date.parse(time) : 0
}

/** Prints lines for a client. */
export function printLines(lines: readonly LogLine[], { timestamps }: { readonly timestamps: boolean }): Uint8Array {
  const texts = lines.map(
    ({ timeMs, text, isPartial }) => `${timestamps ? `${printLineTime(timeMs)} ` : ''}${text}${isPartial === true ? '' : '\n'}`,
  )
  return new TextEncoder().encode(texts.join(''))
}

/** Maximum lines and bytes of a log that a termination message takes from its end. */
export const messageLinesMax = 80
const messageBytesMax = 2048

/** The termination message that the last lines of a log are; undefined without lines. */
export function terminationMessage(lines: readonly LogLine[]): string | undefined {
  const bytes = printLines(lines, { timestamps: false }).subarray(-messageBytesMax)
  return bytes.length === 0 ? undefined : new TextDecoder().decode(bytes)
}

/** Prints nine fractional digits, like the kubelet. */
function printLineTime(timeMs: number): string {
  return new Date(timeMs).toISOString().replace('Z', '000000Z')
}
