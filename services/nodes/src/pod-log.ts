import type { LogChunk, LogsRequest, Stream } from '@orch/core/contracts'
import { badRequest, notFound } from '@orch/core/meta'
import {
  findLogRun,
  type LogEntry,
  type LogLine,
  type LogRun,
  logLines,
  nextLineMs,
  type PodScript,
  printLines,
  usualLog,
} from '@orch/core/pod-life'
import type { Pod } from '@orch/core/workloads'
import { type Clock, onAbort, sleep } from '@orch/platform'
import type { WrittenLines } from './written-logs.ts'

/** The current Pod on its node. */
export interface LoggedPod {
  /** Undefined if it is gone. */
  readonly pod: Pod | undefined
  /** Lines of the container by the time since its start. */
  readonly entries: readonly LogEntry[]
  written(run: string): WrittenLines
  /** The run with times to the millisecond. Undefined if the node has not seen it. */
  exactRun(id: string): LogRun | undefined
}

export interface PodLogOptions {
  readonly request: LogsRequest
  /** Throws 404 if the node is gone. */
  readonly read: () => LoggedPod
  readonly clock: Clock
  /** Calls back after each change of the Pod, until the returned function is called. */
  readonly onChange: (listener: () => void) => () => void
}

const linesAtOnce = 256

/** The log of a container at the speed of its reader. */
export function streamLog(options: PodLogOptions): Stream<LogChunk> {
  const leaving = new AbortController()
  const chunks = chunksOf(options, leaving.signal)
  const close = () => {
    leaving.abort()
    // Its listeners are released even without further reads.
    void chunks.return(undefined)
  }
  const iterator: AsyncIterator<LogChunk, undefined> = {
    next: () => chunks.next(),
    async return() {
      close()
      return { value: undefined, done: true }
    },
  }
  return { close, [Symbol.asyncIterator]: () => iterator }
}

/** The first chunk is empty and is sent at once, to show that the log exists. */
async function* chunksOf(options: PodLogOptions, signal: AbortSignal): AsyncGenerator<LogChunk, undefined> {
  const { request } = options
  let left = request.limitBytes ?? Number.POSITIVE_INFINITY
  const run = findRun(options)
  yield { bytes: new Uint8Array() }
  for await (const lines of linesOf(options, run, signal)) {
    for (let at = 0; at < lines.length; at += linesAtOnce) {
      const printed = printLines(lines.slice(at, at + linesAtOnce), request)
      const bytes = printed.subarray(0, Math.min(printed.length, left))
      left -= bytes.length
      yield { bytes }
      if (left <= 0 || signal.aborted) return
    }
  }
}

function findRun({ request, read }: PodLogOptions): LogRun {
  const { pod, exactRun } = read()
  if (pod === undefined) throw notFound({ group: '', resource: 'pods' }, request.pod.name)
  const found = findLogRun(request.pod.name, statusesOf(pod), request)
  if (found.kind === 'refused') throw badRequest(found.message)
  return exactRun(found.run.id) ?? found.run
}

function statusesOf({ status }: Pod) {
  const lists = [status.containerStatuses, status.initContainerStatuses, status.ephemeralContainerStatuses]
  return lists.flatMap((list) => list ?? [])
}

/** The existing lines, then new ones, until the run has ended. */
async function* linesOf(options: PodLogOptions, first: LogRun, signal: AbortSignal): AsyncGenerator<readonly LogLine[], undefined> {
  const { request, read, clock, onChange } = options
  const { since, tailLines = Number.POSITIVE_INFINITY, follow } = request
  let afterMs = clock.now()
  const sinceMs = since?.kind === 'seconds' ? afterMs - since.seconds * 1000 : (since?.timeMs ?? Number.NEGATIVE_INFINITY)
  const wanted = (lines: readonly LogLine[]) =>
    lines.filter((line) => line.timeMs >= sinceMs && (request.stream === 'All' || line.isError === (request.stream === 'Stderr')))
  const { entries, written } = read()
  const { lines, dropped } = written(first.id)
  let taken = dropped + lines.length
  // If the program of a run writes lines, the run has no generated ones.
  const last = lines.slice(Math.max(0, lines.length - tailLines))
  yield wanted(taken > 0 ? last : logLines(entries, first, { untilMs: afterMs, linesMax: tailLines }))
  let run = first
  while (follow && run.end === undefined && !signal.aborted) {
    const { promise: changed, resolve } = Promise.withResolvers<void>()
    const change = () => resolve()
    const waiting = new AbortController()
    const stop = onChange(change)
    onAbort(signal, change)
    try {
      const { entries, written } = read()
      const { lines, dropped } = written(first.id)
      const nowMs = clock.now()
      run = laterState(run, options, nowMs)
      const total = dropped + lines.length
      yield wanted(total > 0 ? lines.slice(Math.max(0, taken - dropped)) : linesBetween(entries, run, { afterMs, nowMs }))
      taken = total
      afterMs = nowMs
      const dueMs = run.end === undefined ? nextLineMs(entries, run, nowMs) : nowMs
      const due = dueMs === undefined ? [] : [sleep(clock, dueMs - nowMs, waiting.signal, { background: true })]
      await Promise.race([changed, ...due])
    } finally {
      stop()
      signal.removeEventListener('abort', change)
      waiting.abort()
    }
  }
}

/** The end of a run may be noticed late: its last lines are still read after earlier ones. */
function linesBetween(
  entries: readonly LogEntry[],
  run: LogRun,
  { afterMs, nowMs }: { readonly afterMs: number; readonly nowMs: number },
): LogLine[] {
  const ofEnd = entries.filter(({ kind }) => kind === 'end')
  const others = entries.filter(({ kind }) => kind !== 'end')
  const linesMax = Number.POSITIVE_INFINITY
  return [...logLines(others, run, { afterMs, untilMs: nowMs, linesMax }), ...logLines(ofEnd, run, { untilMs: nowMs, linesMax })]
}

/** The current state of the run. A dropped one ends now. */
function laterState(run: LogRun, { request, read }: PodLogOptions, nowMs: number): LogRun {
  const { pod, exactRun } = read()
  const exact = exactRun(run.id)
  if (exact !== undefined && (exact.end !== undefined || pod !== undefined)) return exact
  const statuses = pod === undefined ? [] : statusesOf(pod)
  for (const previous of [false, true]) {
    const found = findLogRun(request.pod.name, statuses, { ...request, previous })
    if (found.kind === 'run' && found.run.id === run.id) return { ...found.run, startedMs: run.startedMs }
  }
  return { ...run, end: { atMs: nowMs, exitCode: 0 } }
}

export function logOf({ spec }: Pod, container: string, script: PodScript): readonly LogEntry[] {
  const { containers, initContainers, ephemeralContainers } = spec
  const all = [containers, initContainers, ephemeralContainers].flatMap((list) => list ?? [])
  const { image = '', stdin } = all.find(({ name }) => name === container) ?? {}
  // kubectl run -i shows the log before it attaches: a program that waits for input has printed nothing.
  return script.containers.get(container)?.logs ?? (stdin === true ? [] : usualLog(container, image))
}
