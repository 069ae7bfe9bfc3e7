import type { LoggedRequest } from '@orch/core/contracts'

/** The number of writes without a change to one object that counts as a loop. */
const noopsMin = 3
/** The number of turns of several writers at one object that counts as a loop. */
const turnsMin = 4
/** The number of lists of one resource that counts as a loop. */
const listsMin = 5
/** The number of requests of one user in a second that counts as a loop. */
const perSecondMax = 20

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
