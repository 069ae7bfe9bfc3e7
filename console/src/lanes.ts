import type { Change } from './change.ts'

/** The property that all changes of a lane share: object, client or kind. */
export type LaneKind = 'objects' | 'clients' | 'kinds'

/** Positions changes by revision or by time. */
export type Axis = 'revision' | 'time'

/** A change on a lane. */
interface Mark {
  /** Position from 0, the oldest change of all lanes, to 1. */
  readonly place: number
  readonly event: Change['event']
}

/** The changes of one object, client or kind. */
export interface Lane {
  readonly name: string
  readonly count: number
  readonly marks: readonly Mark[]
}

/** Lanes with the range of their axis. */
export interface Lanes {
  readonly lanes: readonly Lane[]
  /** The range: revisions, or milliseconds since 1970. */
  readonly from: number
  readonly to: number
}

interface LaneOptions {
  readonly by: LaneKind
  readonly axis: Axis
  /** Maximum number of lanes; those with the most changes are kept. */
  readonly max: number
}

/** Groups changes into lanes, those with the most changes first. `changes` are newest first. */
export function lanesOf(changes: readonly Change[], { by, axis, max }: LaneOptions): Lanes {
  const found = new Map<string, Change[]>()
  for (const change of changes) {
    const name = nameOf(change, by)
    const lane = found.get(name)
    if (lane === undefined) found.set(name, [change])
    else lane.push(change)
  }
  const [newest, oldest] = [changes[0], changes.at(-1)]
  const [from, to] = [positionOf(oldest, axis), positionOf(newest, axis)]
  const busiest = [...found].sort(([, one], [, other]) => other.length - one.length).slice(0, max)
  const placeOf = (change: Change) => (to === from ? 1 : (positionOf(change, axis) - from) / (to - from))
  const lanes = busiest.map(([name, lane]) => ({
    name,
    count: lane.length,
    marks: lane.map((change) => ({ place: placeOf(change), event: change.event })),
  }))
  return { lanes, from, to }
}

function nameOf({ kind, namespace, name, user = 'the server' }: Change, by: LaneKind): string {
  if (by === 'kinds') return kind
  return by === 'clients' ? user : `${kind} ${namespace === undefined ? name : `${namespace}/${name}`}`
}

/** Changes in a store without times have only revisions. */
function positionOf(change: Change | undefined, axis: Axis): number {
  if (change === undefined) return 0
  return axis === 'time' && change.time !== undefined ? Date.parse(change.time) : Number(change.revision)
}

/** The revision at a position of the axis: the newest change at or before it. */
export function revisionAt(changes: readonly Change[], { from, to }: Pick<Lanes, 'from' | 'to'>, axis: Axis, place: number): string {
  const value = from + place * (to - from)
  return (changes.find((change) => positionOf(change, axis) <= value) ?? changes.at(-1))?.revision ?? ''
}
