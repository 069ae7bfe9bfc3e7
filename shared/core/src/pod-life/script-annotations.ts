import { durationToMs, parseDuration } from '../meta/duration.ts'
import { kwokDomain, type Names } from '../names.ts'
import type { Pod } from '../workloads/pods.ts'
import { type LogEntry, logEntriesMax } from './log-lines.ts'
import { evictedMessage, joined, type ProbeKind, pullProblem, type Turn, type Words } from './script-model.ts'
import { parseUsage } from './usage.ts'

/** Maximum number of list items in an annotation, which bounds the work per Pod. */
const itemsMax = 1000
const problemsMax = 10

interface Reader {
  readonly expected: string
  read(text: string): Words | undefined
}

const aDuration = 'a duration such as 30s or 1m30s'
const someTurns = 'changes in the order of their times, such as 5s:fail,20s:pass'

/** Annotations by name. */
const readers: Readonly<Record<string, Reader>> = {
  'run-for': duration((runMs) => ({ runMs })),
  'exit-code': { expected: 'a number from 0 to 255', read: (text) => withCodes([text]) },
  'exit-codes': { expected: 'numbers from 0 to 255 such as 1,1,0, one for each start', read: (text) => withCodes(text.split(',')) },
  'start-delay': duration((startMs) => ({ startMs })),
  'pull-delay': duration((ms) => ({ pull: { ms } })),
  shutdown: duration((ms) => ({ shutdown: { ms } })),
  evict: { expected: `${aDuration}, and after a colon the message`, read: readEviction },
  'ready-after': duration((atMs) => ({
    turns: {
      readiness: [
        { atMs: 0, passes: false },
        { atMs, passes: true },
      ],
    },
  })),
  readiness: turnsOf('readiness'),
  liveness: turnsOf('liveness'),
  startup: turnsOf('startup'),
  logs: { expected: `at most ${logEntriesMax} lines, each a text, "at 5s: text", "every 1s: text" or "end: text"`, read: readLog },
  usage: { expected: 'amounts such as cpu=100m,memory=64Mi', read: readUsage },
  image: {
    expected: 'fail',
    read: (text) => (text === 'fail' ? { pull: { error: pullProblem, failures: Number.POSITIVE_INFINITY } } : undefined),
  },
}

/** Annotations of Pods that kwok's stages and metrics read. Those above override them. */
const kwokReaders: Readonly<Record<string, Reader>> = {
  [`pod-create.stage.${kwokDomain}/delay`]: duration((ms) => ({ pull: { ms } })),
  [`pod-ready.stage.${kwokDomain}/delay`]: duration((startMs) => ({ startMs })),
  [`pod-complete.stage.${kwokDomain}/delay`]: duration((runMs) => ({ runMs })),
  [`pod-delete.stage.${kwokDomain}/delay`]: duration((ms) => ({ shutdown: { ms } })),
  [`${kwokDomain}/usage`]: { expected: 'amounts such as 100m and 64Mi', read: readUsage },
}

function duration(wordsOf: (ms: number) => Words): Reader {
  return {
    expected: aDuration,
    read(text) {
      const ms = toMs(text)
      return ms === undefined ? undefined : wordsOf(ms)
    },
  }
}

function turnsOf(kind: ProbeKind): Reader {
  return {
    expected: someTurns,
    read(text) {
      const turns = listOf(text.split(','), parseTurn)
      const isOrdered = turns?.every(({ atMs }, index) => atMs >= (turns[index - 1]?.atMs ?? 0))
      return isOrdered === true ? { turns: { [kind]: turns } } : undefined
    },
  }
}

function parseTurn(text: string): Turn | undefined {
  const [, time = '', result] = /^(.*):(pass|fail)$/.exec(text.trim()) ?? []
  const atMs = toMs(time)
  return atMs === undefined ? undefined : { atMs, passes: result === 'pass' }
}

/** `30s`, or `30s: The node was low on resource: memory.` */
function readEviction(text: string): Words | undefined {
  const [, time = '', message] = /^([^:]*)(?::\s*(.+))?$/s.exec(text) ?? []
  const atMs = toMs(time)
  return atMs === undefined ? undefined : { eviction: { atMs, message: message ?? evictedMessage } }
}

function readUsage(text: string): Words | undefined {
  const usage = parseUsage(text)
  return usage === undefined ? undefined : { usage: [{ atMs: 0, ...usage }] }
}

function readLog(text: string): Words | undefined {
  const lines = text.replace(/\n$/, '').split('\n')
  const logs = lines.length > logEntriesMax ? undefined : listOf(lines, parseLogEntry)
  return logs === undefined ? undefined : { logs }
}

/**
 * Parses a log line; undefined if its time is invalid.
 *
 *   "up" → at 0      "at 5s: ready" → at 5,000      "every 1s: tick ${n}" → every 1,000      "end: bye"
 */
function parseLogEntry(line: string): LogEntry | undefined {
  const [, word, time = '', text = ''] = /^(at|every|end)(?: ([0-9a-zµ.]+))?: ?(.*)$/.exec(line) ?? []
  if (word === undefined || (word === 'end') !== (time === '')) return { kind: 'at', atMs: 0, text: line }
  if (word === 'end') return { kind: 'end', text }
  const ms = toMs(time)
  if (ms === undefined || (word === 'every' && ms < 1)) return undefined
  return word === 'at' ? { kind: 'at', atMs: ms, text } : { kind: 'every', everyMs: ms, text }
}

function withCodes(texts: readonly string[]): Words | undefined {
  const exitCodes = listOf(texts, (text) => (/^\d{1,3}$/.test(text.trim()) && Number(text) <= 255 ? Number(text) : undefined))
  return exitCodes === undefined ? undefined : { exitCodes }
}

/** Undefined if an item is invalid or there are too many. */
function listOf<T>(texts: readonly string[], parse: (text: string) => T | undefined): T[] | undefined {
  if (texts.length > itemsMax) return undefined
  const items = texts.flatMap((text) => parse(text) ?? [])
  return items.length === texts.length ? items : undefined
}

function toMs(text: string): number | undefined {
  const parsed = parseDuration(text.trim())
  const ms = parsed === undefined ? undefined : durationToMs(parsed)
  return ms !== undefined && ms >= 0 ? ms : undefined
}

/**
 * Parses the annotations of a Pod. `NAME` applies to all containers of `spec.containers`, `NAME.CONTAINER` to one container of any kind.
 *
 *   simulation.orch.io/run-for: 30s            each container ends after 30 s with 0
 *   simulation.orch.io/exit-codes.web: 1,1,0   web fails twice
 */
export function readAnnotations(
  { metadata: { annotations }, spec }: Pod,
  names: ReadonlySet<string>,
  { simulationDomain }: Pick<Names, 'simulationDomain'>,
) {
  const prefix = `${simulationDomain}/`
  const problems: string[] = []
  const words = new Map<string, Words>()
  // Settings for all containers precede those for one container.
  for (const [key, reader] of annotations === undefined ? [] : Object.entries(kwokReaders)) {
    const text = kwokText(annotations ?? {}, key)
    if (text === '') continue
    const found = reader.read(text)
    if (found === undefined) problems.push(problemOf(key, text, { reader, container: undefined, names }) ?? '')
    else for (const { name } of spec.containers ?? []) words.set(name, joined(words.get(name), found))
  }
  const given = Object.entries(annotations ?? {}).filter(([key]) => key.startsWith(prefix))
  for (const [key, text] of given.sort(
    ([one], [other]) => Number(one.includes('.', prefix.length)) - Number(other.includes('.', prefix.length)),
  )) {
    const [word = '', container] = splitAtDot(key.slice(prefix.length))
    const reader = readers[word]
    const problem = problemOf(key, text, { reader, container, names })
    if (problem !== undefined) problems.push(problem)
    const found = reader?.read(text)
    if (found === undefined) continue
    const meant = container === undefined ? (spec.containers ?? []).map(({ name }) => name) : [container]
    for (const name of meant) words.set(name, joined(words.get(name), found))
  }
  return { words, problems: problems.slice(0, problemsMax) }
}

/** The text of a kwok annotation; the two usage annotations are combined. */
function kwokText(annotations: Readonly<Record<string, string>>, key: string): string {
  if (!key.endsWith('/usage')) return annotations[key] ?? ''
  const amounts = ['cpu', 'memory'].map((resource) => [resource, annotations[`${key}-${resource}`]])
  return amounts.flatMap(([resource, amount]) => (amount === undefined ? [] : [`${resource}=${amount}`])).join(',')
}

function splitAtDot(text: string): [word: string, container?: string] {
  const dot = text.indexOf('.')
  return dot < 0 ? [text] : [text.slice(0, dot), text.slice(dot + 1)]
}

interface Place {
  readonly reader: Reader | undefined
  readonly container: string | undefined
  readonly names: ReadonlySet<string>
}

function problemOf(key: string, text: string, { reader, container, names }: Place): string | undefined {
  if (reader === undefined) return `annotation ${key}: is unknown; known after the slash: ${Object.keys(readers).join(', ')}`
  if (container !== undefined && !names.has(container)) return `annotation ${key}: the Pod has no container ${container}`
  if (reader.read(text) !== undefined) return undefined
  return `annotation ${key}: ${JSON.stringify(text.slice(0, 100))}: must be ${reader.expected}`
}
