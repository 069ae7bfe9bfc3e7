import type { LoggedRequest } from '@orch/core/contracts'

/** Requests that a client sends repeatedly. */
export interface HotLoop {
  readonly user: string
  readonly what: string
  readonly perSecond: number
  /** Number of successful requests that changed nothing. */
  readonly noops: number
  readonly newest: LoggedRequest
}

const hotSeconds = 10
const hotPerSecond = 2

/** The requests that have ended in the last ten seconds. The log is in the order of ends, so a slow request may have the earliest time. */
function recentOf(newestFirst: readonly LoggedRequest[]): readonly LoggedRequest[] {
  const endOf = ({ time, durationMs = 0 }: LoggedRequest) => time + durationMs
  const [newest] = newestFirst
  const oldest = newest === undefined ? -1 : newestFirst.findIndex((request) => endOf(request) < endOf(newest) - hotSeconds * 1_000)
  return oldest < 0 ? newestFirst : newestFirst.slice(0, oldest)
}

/** Finds clients that send one request more than twice a second for ten seconds, the fastest first. */
export function hotLoopsOf(newestFirst: readonly LoggedRequest[]): HotLoop[] {
  const counts = new Map<string, { count: number; noops: number; what: string; newest: LoggedRequest }>()
  for (const request of recentOf(newestFirst)) {
    if (request.watch !== undefined) continue
    const { user, verb, resource, subresource, path, name } = request
    const what = `${verb} ${resource === '' ? path : resource}${subresource === '' ? '' : `/${subresource}`} ${verb === 'list' ? '' : name}`
    const key = `${user} ${what}`
    const entry = counts.get(key)
    if (entry === undefined) counts.set(key, { count: 1, noops: Number(request.noop), what, newest: request })
    else {
      entry.count += 1
      if (request.noop) entry.noops += 1
    }
  }
  return [...counts.values()]
    .filter(({ count }) => count >= hotPerSecond * hotSeconds)
    .sort((one, other) => other.count - one.count)
    .map(({ what, count, noops, newest: last }) => ({ user: last.user, what, perSecond: count / hotSeconds, noops, newest: last }))
}

/** Clients that take turns in changing one object. */
export interface Quarrel {
  readonly users: readonly string[]
  readonly changes: number
  readonly newest: LoggedRequest
}

const turnsMin = 4

/** Finds objects that several clients have changed in turns in the last ten seconds, those with the most changes first. */
export function quarrelsOf(newestFirst: readonly LoggedRequest[]): Quarrel[] {
  const recent = recentOf(newestFirst).filter(({ changed }) => changed)
  const byObject = Map.groupBy(recent, ({ group, resource, namespace, name }) => JSON.stringify([group, resource, namespace, name]))
  return [...byObject.values()]
    .filter((changes) => changes.filter(({ user }, index) => index > 0 && user !== changes[index - 1]?.user).length >= turnsMin)
    .sort((one, other) => other.length - one.length)
    .flatMap((changes) => {
      const [last] = changes
      return last === undefined
        ? []
        : [{ users: [...new Set(changes.map(({ user }) => user))].sort(), changes: changes.length, newest: last }]
    })
}
