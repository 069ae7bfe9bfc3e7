import type { LoggedRequest } from '@orch/core/contracts'
import type { RequestLog } from '@orch/gateway'
import { SettingsError } from '@orch/platform'

/** The number of writes without a change to one object that counts as a loop. */
const noopsMin = 3
/** The number of turns of several writers at one object that counts as a loop. */
const turnsMin = 4
/** The number of lists of one resource that counts as a loop. */
const listsMin = 5
/** The number of requests of one user in a second that counts as a loop. */
const perSecondMax = 20

/** The observed requests. */
interface Observation {
  readonly log: Pick<RequestLog, 'total' | 'read' | 'readLast'>
  /** The users of the test. */
  readonly users: readonly string[]
  /** All users of the test by default. */
  readonly user: string | undefined
  readonly ms: number
  /** Resolves after the time of the observation. */
  readonly pass: () => Promise<void>
}

/** Describes the loops during a time, one per line. */
export async function observeHotLoops({ log, users, user, ms, pass }: Observation): Promise<string[]> {
  // A misspelled name would observe nothing.
  if (user !== undefined && !users.includes(user) && log.readLast({ user }, 0, 1).length === 0)
    throw new SettingsError(`${user} has sent no request, and is no user of the test: ${users.join(', ') || 'there is none'}`)
  const observed = user === undefined ? users : [user]
  const from = log.total
  await pass()
  return hotLoopsIn(
    log.read({}, from).filter((request) => observed.includes(request.user)),
    ms / 1_000,
  )
}

/** Describes controllers that never settle, one per line, from the requests of some seconds without other activity. */
export function hotLoopsIn(requests: readonly LoggedRequest[], seconds: number): string[] {
  const byUser = Map.groupBy(requests, ({ user }) => user)
  return [
    ...[...byUser].flatMap(([user, own]) => loopsOfUser(user, own, seconds)),
    ...[...Map.groupBy(requests, placeOf)].flatMap(([place, own]) => quarrelIn(place, own)),
  ]
}

function loopsOfUser(user: string, requests: readonly LoggedRequest[], seconds: number): string[] {
  const found: string[] = []
  for (const [place, own] of Map.groupBy(
    requests.filter(({ noop }) => noop),
    placeOf,
  )) {
    if (own.length >= noopsMin) found.push(`${user} has written ${place} ${own.length} times without a change`)
  }
  for (const [place, own] of Map.groupBy(
    requests.filter(({ verb }) => verb === 'list'),
    placeOf,
  )) {
    if (own.length >= listsMin) found.push(`${user} has listed ${place} ${own.length} times`)
  }
  if (requests.length > perSecondMax * seconds) found.push(`${user} has sent ${requests.length} requests in ${seconds} s`)
  return found
}

/** Finds writers that take turns in changing one object. */
function quarrelIn(place: string, requests: readonly LoggedRequest[]): string[] {
  const writers = requests.filter(({ changed }) => changed).map(({ user, agent }) => (agent === '' ? user : `${user} (${agent})`))
  const turns = writers.filter((writer, index) => index > 0 && writer !== writers[index - 1]).length
  return turns < turnsMin ? [] : [`${place} was changed in turns by ${[...new Set(writers)].sort().join(' and ')}, ${writers.length} times`]
}

function placeOf({ resource, group, subresource, namespace, name, path }: LoggedRequest): string {
  if (resource === '') return path
  const kind = `${resource}${group === '' ? '' : `.${group}`}${subresource === '' ? '' : `/${subresource}`}`
  const object = [namespace, name].filter((part) => part !== '').join('/')
  return object === '' ? kind : `${kind} ${object}`
}
