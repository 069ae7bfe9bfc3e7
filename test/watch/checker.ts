/** One committed change, as the writer knows it. */
export interface TrueChange {
  readonly revision: number
  readonly key: string
  /** Absent: the change deleted the object. */
  readonly after: { readonly text: string; readonly app: string } | undefined
}

/** The steps of a client after its list, in order. */
export type Step =
  | { readonly kind: 'event'; readonly type: string; readonly key: string; readonly revision: number; readonly text: string }
  | { readonly kind: 'position'; readonly revision: number }

/** One list and the watch that followed it. */
export interface Observation {
  /** The label of the requested objects; undefined for all. */
  readonly app: string | undefined
  /** The newest acknowledged revision at the time of the list request. */
  readonly acknowledged: number
  readonly listRevision: number
  /** Texts by key. */
  readonly listed: ReadonlyMap<string, string>
  readonly steps: readonly Step[]
}

/** The fault in an observation: a lost, repeated, reordered, late or stale event; undefined if there is none. */
export function findFault(truth: readonly TrueChange[], observation: Observation): string | undefined {
  return faultOfList(truth, observation) ?? faultOfOrder(observation) ?? faultOfEvents(truth, observation)
}

function faultOfList(truth: readonly TrueChange[], { app, acknowledged, listRevision, listed }: Observation): string | undefined {
  if (listRevision < acknowledged) return `a stale list: at ${listRevision}, though ${acknowledged} had been acknowledged`
  const expected = [...stateAt(truth, listRevision)].filter(([, { app: own }]) => app === undefined || own === app)
  const wanted = print(expected.map(([key, { text }]) => [key, text]))
  const got = print([...listed])
  return got === wanted ? undefined : `a wrong list at ${listRevision}: ${got} instead of ${wanted}`
}

/** Revisions increase, and no event comes after a position that promised it. */
function faultOfOrder({ listRevision, steps }: Observation): string | undefined {
  let reached = listRevision
  for (const step of steps) {
    if (step.kind === 'event' && step.revision <= reached) return `an event of ${step.revision} after ${reached}`
    reached = Math.max(reached, step.revision)
  }
  return undefined
}

function faultOfEvents(truth: readonly TrueChange[], { app, listRevision, steps }: Observation): string | undefined {
  const until = steps.at(-1)?.revision ?? listRevision
  const got = steps.flatMap((step) => (step.kind === 'event' ? [printEvent(step)] : []))
  const wanted = expectedEvents(truth, { app, after: listRevision, until })
  const at = wanted.findIndex((event, index) => event !== got[index])
  if (at >= 0) return `event ${at} after ${listRevision} is ${got[at]} instead of ${wanted[at]}`
  return got.length > wanted.length ? `an event too many: ${got[wanted.length]}` : undefined
}

/** The events of a selector, computed from the committed changes alone. */
function expectedEvents(truth: readonly TrueChange[], range: { app: string | undefined; after: number; until: number }): string[] {
  const state = stateAt(truth, range.after)
  const events: string[] = []
  for (const { revision, key, after } of truth) {
    if (revision <= range.after || revision > range.until) continue
    const before = state.get(key)
    const was = before !== undefined && (range.app === undefined || before.app === range.app)
    const is = after !== undefined && (range.app === undefined || after.app === range.app)
    if (is) events.push(printEvent({ type: was ? 'MODIFIED' : 'ADDED', key, revision, text: after.text }))
    else if (was) events.push(printEvent({ type: 'DELETED', key, revision, text: before.text }))
    if (after === undefined) state.delete(key)
    else state.set(key, after)
  }
  return events
}

function stateAt(truth: readonly TrueChange[], revision: number): Map<string, { text: string; app: string }> {
  const state = new Map<string, { text: string; app: string }>()
  for (const change of truth) {
    if (change.revision > revision) break
    if (change.after === undefined) state.delete(change.key)
    else state.set(change.key, change.after)
  }
  return state
}

function printEvent({ type, key, revision, text }: { type: string; key: string; revision: number; text: string }): string {
  return `${type} ${key} ${revision} ${text}`
}

function print(pairs: readonly (readonly [string, string])[]): string {
  return JSON.stringify(pairs.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
