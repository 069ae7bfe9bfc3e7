import { isDeepStrictEqual } from 'node:util'
import type { ExpectStep } from './scenario.ts'

/** A state in normal form, without traces whose order is random. */
export interface State {
  readonly objects: Readonly<Record<string, unknown>>
  readonly events: readonly string[]
  readonly trace?: readonly string[] | undefined
}

/** Both sides without the values that the recording leaves open. */
export type Comparison = ReturnType<typeof compare>

export function compare(step: ExpectStep, state: State, group: string) {
  const loosen = step.loose === true ? looseState(group === 'WL-DS') : withoutGenerations
  const expected = loosen({ objects: step.objects, events: step.events, trace: step.trace && normalTrace(step.trace) })
  const found = loosen({ ...state, trace: state.trace && normalTrace(state.trace) })
  return {
    expected,
    found: {
      objects: step.objectsIncomplete === true ? membersOf(found.objects, expected.objects) : found.objects,
      events: step.eventsIncomplete === true ? found.events.filter((event) => expected.events.includes(event)) : found.events,
      trace: expected.trace === undefined ? undefined : found.trace,
    },
  }
}

export function isEqual({ expected, found }: Comparison): boolean {
  return isDeepStrictEqual(expected, found)
}

function normalTrace(trace: readonly string[]): string[] {
  return withDeletionsInOrder(withoutShortEnds(trace))
}

/** Concurrent deletions of a controller come in any order. */
function withDeletionsInOrder(trace: readonly string[]): string[] {
  const isDeletion = (line: string | undefined) => line?.startsWith('terminating ') === true
  const groups: string[][] = []
  for (const line of trace) {
    const last = groups.at(-1)
    if (last !== undefined && isDeletion(line) && isDeletion(last[0])) last.push(line)
    else groups.push([line])
  }
  return groups.flatMap((group) => group.toSorted())
}

/** The recorded API server also wrote a deletion time on objects that it removed at once. */
function withoutShortEnds(trace: readonly string[]): string[] {
  const removed = new Set(trace.filter((line) => line.startsWith('- ')).map((line) => `terminating ${line.slice(2)}`))
  return trace.filter((line) => !removed.has(line))
}

function membersOf(objects: State['objects'], expected: State['objects']): State['objects'] {
  return Object.fromEntries(Object.entries(objects).filter(([name]) => name in expected))
}

/** The generations of objects that controllers write count the writes of the recorded controllers. */
function withoutGenerations({ objects, events, trace }: State): State {
  return { objects: Object.fromEntries(Object.entries(objects).map(([name, object]) => [name, withoutGeneration(object)])), events, trace }
}

function withoutGeneration(object: unknown): unknown {
  const { owners, generation: _, status, ...rest } = object as { owners?: unknown; generation?: number; status?: object }
  if (owners === undefined) return object
  const { observedGeneration: _observed, ...ofStatus } = (status ?? {}) as { observedGeneration?: number }
  return { owners, ...rest, ...(status !== undefined && { status: ofStatus }) }
}

/** Replaces numbers of generated names by `*`, sorts the Pods of one prefix, and sums the counts of events. */
function looseState(isOfDaemonSets: boolean): (state: State) => State {
  const withoutNumbers = (text: string) =>
    (isOfDaemonSets ? text.replace(/(@NS-n)\d+(#\d+)?/g, '$1*').replace(/NS-n\d+/g, 'NS-n*') : text).replace(/#\d+/g, '*')
  return (state) => {
    const { objects, events } = withoutGenerations(state)
    const loose: Record<string, unknown> = {}
    const pods = new Map<string, unknown[]>()
    for (const [name, object] of Object.entries(objects)) {
      const of = JSON.parse(withoutNumbers(JSON.stringify(object)))
      if (!/^Pod\/.*(#\d+|@NS-n\d+)$/.test(name)) loose[name] = of
      else pods.set(withoutNumbers(name), [...(pods.get(withoutNumbers(name)) ?? []), of])
    }
    for (const [name, list] of pods) loose[name] = list.toSorted((left, right) => (textOf(left) < textOf(right) ? -1 : 1))
    return { objects: loose, events: summed(events.map(withoutNumbers)), trace: undefined }
  }
}

function summed(events: readonly string[]): string[] {
  const counts = new Map<string, string>()
  for (const event of events) {
    const [count = '', line = ''] = [event.slice(0, event.indexOf('x ')), event.slice(event.indexOf('x ') + 2)]
    counts.set(line, count === 'N' ? 'N' : String(Number(counts.get(line) ?? 0) + Number(count)))
  }
  return [...counts].map(([line, count]) => `${count}x ${line}`).sort()
}

/** JSON with sorted members. */
function textOf(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([left], [right]) => (left < right ? -1 : 1)))
      : member,
  )
}
