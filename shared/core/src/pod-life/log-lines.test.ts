import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { namesOf } from '../names.ts'
import type { Pod } from '../workloads/pods.ts'
import { findLogRun, type LogEntry, logLines, logLinesMax, nextLineMs, printLines, usualLog } from './log-lines.ts'
import type { ContainerStatus } from './phase.ts'
import { scriptOf } from './script.ts'

/** A row of a test table of the kubelet; the first line of the file names its source. `pSuccess`: the previous run has a log. */
interface Row {
  readonly statuses: readonly ContainerStatus[]
  readonly success: boolean
  readonly pSuccess: boolean
}

const [, ...rows] = readFileSync(join(import.meta.dirname, 'cases', 'kubelet-logs.jsonl'), 'utf8')
  .trimEnd()
  .split('\n')

test.each(rows.map((line, index): [number, Row] => [index, JSON.parse(line)]))(
  'NODE-IO-09: a container has a log, and a log of its previous run, as in row %i of the table TestValidateContainerLogStatus',
  (_, { statuses, success, pSuccess }) => {
    const found = (previous: boolean) => findLogRun('pod', statuses, { container: 'x', previous }).kind === 'run'
    expect({ success: found(false), pSuccess: found(true) }).toEqual({ success, pSuccess })
  },
)

const status = (rest: Partial<ContainerStatus>): ContainerStatus =>
  ({ name: 'c', image: '', imageID: '', ready: false, restartCount: 0, ...rest }) as ContainerStatus

describe('NODE-IO-09: the reason why a log cannot be read', () => {
  test.each<[name: string, status: ContainerStatus, previous: boolean, message: string]>([
    ['other name', status({ name: 'other' }), false, 'container "c" in pod "p" is not available'],
    [
      'creating',
      status({ state: { waiting: { reason: 'ContainerCreating' } } }),
      false,
      'container "c" in pod "p" is waiting to start: ContainerCreating',
    ],
    [
      'failed pull',
      status({ state: { waiting: { reason: 'ErrImagePull' } } }),
      false,
      'container "c" in pod "p" is waiting to start: image can\'t be pulled',
    ],
    [
      'back-off of pulls',
      status({ state: { waiting: { reason: 'ImagePullBackOff' } } }),
      false,
      'container "c" in pod "p" is waiting to start: trying and failing to pull image',
    ],
    ['no state', status({}), false, 'container "c" in pod "p" is waiting to start - no logs yet'],
    ['no run before', status({ state: { running: { startedAt: null } } }), true, 'previous terminated container "c" in pod "p" not found'],
    [
      'no id',
      status({ state: { terminated: { exitCode: 1, startedAt: null, finishedAt: null } } }),
      false,
      'container "c" in pod "p" is terminated',
    ],
  ])('follows from the state of the container: %s', (_, one, previous, message) => {
    expect(findLogRun('p', [one], { container: 'c', previous })).toEqual({ kind: 'refused', message })
  })
})

const texts = (entries: readonly LogEntry[], ...rest: [run: Parameters<typeof logLines>[1], wanted: Parameters<typeof logLines>[2]]) =>
  logLines(entries, ...rest).map(({ timeMs, text }) => `${timeMs} ${text}`)

describe('lines of a log', () => {
  const entries: readonly LogEntry[] = [
    { kind: 'every', everyMs: 1000, text: `tick \${n}` },
    { kind: 'at', atMs: 0, text: 'up' },
    { kind: 'at', atMs: 2000, text: 'ready', isError: true },
    { kind: 'end', text: `bye \${code}` },
  ]
  const running = { id: 'a', startedMs: 10_000 }
  const ended = { ...running, end: { atMs: 12_500, exitCode: 3 } }

  test('are the lines up to a time in order, and the last line of a finished run', () => {
    const all = { untilMs: 20_000, linesMax: 100 }
    expect(texts(entries, running, { ...all, untilMs: 12_000 })).toEqual(['10000 up', '11000 tick 1', '12000 tick 2', '12000 ready'])
    expect(texts(entries, ended, all)).toEqual(['10000 up', '11000 tick 1', '12000 tick 2', '12000 ready', '12500 bye 3'])
    expect(texts(entries, running, { ...all, untilMs: 9000 })).toEqual([])
  })

  test('are the last lines of a bound, and the lines after a time', () => {
    expect(texts(entries, ended, { untilMs: 20_000, linesMax: 2 })).toEqual(['12000 ready', '12500 bye 3'])
    expect(texts(entries, ended, { untilMs: 20_000, linesMax: 100, afterMs: 11_000 })).toEqual([
      '12000 tick 2',
      '12000 ready',
      '12500 bye 3',
    ])
  })

  test('of a run of a year are computed from its end', () => {
    const year = 365 * 86_400_000
    const some = texts(entries, running, { untilMs: 10_000 + year, linesMax: 1 })
    expect(some).toEqual([`${10_000 + year} tick ${year / 1000}`])
    const all = { untilMs: 10_000 + year, linesMax: Number.POSITIVE_INFINITY }
    expect(logLines(entries, running, all)).toHaveLength(logLinesMax)
    expect(logLines([{ kind: 'every', everyMs: 1000, text: 'x'.repeat(1024 * 1024) }], running, all)).toHaveLength(10)
  })

  test('have the next time after a given one', () => {
    expect([9000, 10_000, 11_000, 12_000].map((afterMs) => nextLineMs(entries, running, afterMs))).toEqual([10_000, 11_000, 12_000, 13_000])
    expect([12_000, 12_500].map((afterMs) => nextLineMs(entries, ended, afterMs))).toEqual([12_500, undefined])
    expect(nextLineMs(usualLog('c', 'i'), running, 10_000)).toBeUndefined()
  })

  test('NODE-IO-06: are printed with nine digits of their time on request', () => {
    const lines = logLines(entries, { id: 'a', startedMs: 1_700_000_000_120 }, { untilMs: 1_700_000_000_120, linesMax: 9 })
    expect(Buffer.from(printLines(lines, { timestamps: true })).toString()).toBe('2023-11-14T22:13:20.120000000Z up\n')
    expect(Buffer.from(printLines(lines, { timestamps: false })).toString()).toBe('up\n')
  })
})

describe('the annotation of a log', () => {
  const names = namesOf('kubernetes')
  const scriptFor = (logs: string) => {
    const metadata = { annotations: { 'simulation.orch.io/logs': logs } }
    return scriptOf({ metadata, spec: { containers: [{ name: 'c' }] } } as unknown as Pod, names)
  }

  test('has a line for each entry, at its time', () => {
    expect(scriptFor(`up\nat 5s: ready\nevery 1m: tick \${n}\nend: bye\nat noon`).containers.get('c')?.logs).toEqual([
      { kind: 'at', atMs: 0, text: 'up' },
      { kind: 'at', atMs: 5000, text: 'ready' },
      { kind: 'every', everyMs: 60_000, text: `tick \${n}` },
      { kind: 'end', text: 'bye' },
      { kind: 'at', atMs: 0, text: 'at noon' },
    ])
  })

  test('with an invalid time, or with too many lines, is a problem', () => {
    const expected = 'at most 100 lines, each a text, "at 5s: text", "every 1s: text" or "end: text"'
    for (const logs of ['at 5x: ready', 'every 0s: tick', 'line\n'.repeat(101)]) {
      const { problems, containers } = scriptFor(logs)
      expect(problems).toEqual([`annotation simulation.orch.io/logs: ${JSON.stringify(logs.slice(0, 100))}: must be ${expected}`])
      expect(containers.get('c')?.logs).toBeUndefined()
    }
  })
})
