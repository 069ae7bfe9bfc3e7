import { durationToMs, parseDuration } from '../meta/duration.ts'
import type { Names } from '../names.ts'
import type { Pod } from '../workloads/pods.ts'

/** One run of a container. */
interface Run {
  /** Infinity: it runs until it is stopped. */
  readonly durationMs: number
  readonly exitCode: number
}

/** A change of what a probe finds, from the start of the container on. */
export interface Turn {
  readonly atMs: number
  readonly passes: boolean
}

export type ProbeKind = 'startup' | 'readiness' | 'liveness'

/** The behaviour of a container, in milliseconds. */
export interface ContainerScript {
  /** Time to pull the image. 0: the image is on the node. */
  readonly pullMs: number
  readonly isPullable: boolean
  /** From the image to the start. */
  readonly startMs: number
  /** By start; the last one repeats. */
  readonly runs: readonly Run[]
  /** Probes pass before the first turn. */
  readonly turns: Readonly<Record<ProbeKind, readonly Turn[]>>
  /** From the signal to the end. */
  readonly shutdownMs: number
}

/** The behaviour of a Pod: a script for each of its containers, and the annotations that have none. */
export interface PodScript {
  readonly containers: ReadonlyMap<string, ContainerScript>
  /** Sentences, each naming an annotation and what was expected. */
  readonly problems: readonly string[]
}

/** Run of a container that is to end and has no duration of its own. */
const shortRunMs = 1000
/** Items of a list in an annotation; a bound of the work for one Pod. */
const itemsMax = 1000
const problemsMax = 10

interface Words {
  readonly pullMs?: number
  readonly isPullable?: boolean
  readonly startMs?: number
  readonly runMs?: number
  readonly exitCodes?: readonly number[]
  readonly shutdownMs?: number
  readonly turns?: Partial<Record<ProbeKind, readonly Turn[]>>
}

interface Reader {
  readonly expected: string
  read(text: string): Words | undefined
}

const aDuration = 'a duration such as 30s or 1m30s'
const someTurns = 'changes in the order of their times, such as 5s:fail,20s:pass'

/** Annotations by their names. */
const readers: Readonly<Record<string, Reader>> = {
  'run-for': duration((runMs) => ({ runMs })),
  'exit-code': { expected: 'a number from 0 to 255', read: (text) => withCodes([text]) },
  'exit-codes': { expected: 'numbers from 0 to 255 such as 1,1,0, one for each start', read: (text) => withCodes(text.split(',')) },
  'start-delay': duration((startMs) => ({ startMs })),
  'pull-delay': duration((pullMs) => ({ pullMs })),
  shutdown: duration((shutdownMs) => ({ shutdownMs })),
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
  image: { expected: 'fail', read: (text) => (text === 'fail' ? { isPullable: false } : undefined) },
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

function withCodes(texts: readonly string[]): Words | undefined {
  const exitCodes = listOf(texts, (text) => (/^\d{1,3}$/.test(text.trim()) && Number(text) <= 255 ? Number(text) : undefined))
  return exitCodes === undefined ? undefined : { exitCodes }
}

/** Undefined: an item cannot be read, or there are too many. */
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
 * The script of a Pod by its annotations. `NAME` is for all containers of `spec.containers`, `NAME.CONTAINER` for one container of any kind.
 *
 *   simulation.orch.io/run-for: 30s            each container ends after 30 s with 0
 *   simulation.orch.io/exit-codes.web: 1,1,0   web fails twice
 */
export function scriptOf(
  { metadata: { annotations, ownerReferences }, spec }: Pod,
  { simulationDomain }: Pick<Names, 'simulationDomain'>,
): PodScript {
  const prefix = `${simulationDomain}/`
  const problems: string[] = []
  const words = new Map<string, Words>()
  const initNames = new Set((spec.initContainers ?? []).map(({ name }) => name))
  const ephemeralNames = (spec.ephemeralContainers ?? []).map(({ name }) => name)
  const names = new Set([...initNames, ...(spec.containers ?? []).map(({ name }) => name), ...ephemeralNames])
  // Words for all containers come before those for one.
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
  const isJob = ownerReferences?.some(({ kind, controller }) => kind === 'Job' && controller === true) === true
  const sidecars = new Set((spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always').map(({ name }) => name))
  const containers = new Map<string, ContainerScript>()
  for (const name of names) {
    const isInit = initNames.has(name) && !sidecars.has(name)
    const runMs = isInit ? 0 : isJob && !sidecars.has(name) && !ephemeralNames.includes(name) ? shortRunMs : undefined
    containers.set(name, toScript(words.get(name) ?? {}, runMs))
  }
  return { containers, problems: problems.slice(0, problemsMax) }
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

function joined(before: Words = {}, after: Words): Words {
  return { ...before, ...after, turns: { ...before.turns, ...after.turns } }
}

function toScript({ runMs, exitCodes, turns, ...rest }: Words, usualRunMs: number | undefined): ContainerScript {
  const durationMs = runMs ?? usualRunMs ?? (exitCodes === undefined ? Number.POSITIVE_INFINITY : shortRunMs)
  return {
    ...{ pullMs: 0, isPullable: true, startMs: 0, shutdownMs: 0, ...rest },
    runs: (exitCodes ?? [0]).map((exitCode) => ({ durationMs, exitCode })),
    turns: { startup: [], readiness: [], liveness: [], ...turns },
  }
}
