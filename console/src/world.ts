import { signal } from '@preact/signals'
import { ApiError, ask, discover, formOf, groupNamed } from './api.ts'
import type { KubeList, KubeObject } from './objects.ts'
import { type Kind, keyOfKind } from './paths.ts'
import { moment } from './route.ts'
import { messageOf } from './text.ts'
import { readTimeline } from './timeline.ts'
import { follow } from './watches.ts'

/** All kinds by key; empty until they are read. */
export const kinds = signal<ReadonlyMap<string, Kind>>(new Map())

/** The namespaces of the user; undefined if the user may not list them and must enter a name. */
export const namespaces = signal<readonly string[] | undefined>([])

export const problem = signal('')

/** The last moment that was readable; '' for the present. */
export const readableMoment = signal('')

/** The reason why the moment in the URL cannot be read. */
export const momentProblem = signal('')

/** The oldest retained revision, if the moment in the URL is older; otherwise ''. */
export const oldestMoment = signal('')

/** Reads the kinds and namespaces. */
export async function readWorld(): Promise<void> {
  try {
    const [found, known] = [await discover(), kinds.value]
    const isSame = (kind: Kind) => JSON.stringify(kind) === JSON.stringify(known.get(keyOfKind(kind)))
    // Pages read again what belongs to a changed kind: an unchanged one stays the same value.
    if (found.length !== known.size || !found.every(isSame))
      kinds.value = new Map(found.map((kind) => [keyOfKind(kind), (isSame(kind) && known.get(keyOfKind(kind))) || kind]))
    problem.value = ''
  } catch (error) {
    problem.value = `The kinds cannot be read: ${messageOf(error)}`
  }
  await readNamespaces()
}

/** Delay between a change of namespaces or definitions and the next read of them. */
const readAgainMs = 1_000

/** Reads the kinds and namespaces again when they change; returns a function that stops it. */
export function followWorld(): () => void {
  let timer: number | undefined
  const onEvents = () => {
    timer ??= setTimeout(() => {
      timer = undefined
      void readWorld()
    }, readAgainMs)
  }
  const followList = (path: string) => {
    const read = async () => {
      const headers = { accept: formOf('PartialObjectMetadataList') }
      return (await ask<KubeList<KubeObject>>(`${path}?limit=1`, { headers })).metadata.resourceVersion
    }
    // A user without the right to list them sees new ones with the next load of the page.
    return follow({ path, accept: formOf('PartialObjectMetadata'), read, onEvents, onProblem: () => {} })
  }
  const ends = ['/api/v1/namespaces', `/apis/${groupNamed('apiextensions')}/v1/customresourcedefinitions`].map(followList)
  return () => {
    clearTimeout(timer)
    for (const end of ends) end()
  }
}

const namespacesPageSize = 1_000

/** Reads the namespaces at the displayed moment, which shows whether the moment is retained. */
export async function readNamespaces(): Promise<void> {
  const at = moment.value
  momentProblem.value = ''
  oldestMoment.value = ''
  try {
    const names: string[] = []
    let next = ''
    do {
      const query = new URLSearchParams({ limit: String(namespacesPageSize), ...(next === '' ? {} : { continue: next }) })
      const { items, metadata: page } = await ask<KubeList<KubeObject>>(`/api/v1/namespaces?${query}`, {
        headers: { accept: formOf('PartialObjectMetadataList') },
      })
      if (at !== moment.value) return
      names.push(...items.map(({ metadata }) => metadata.name))
      next = page.continue ?? ''
    } while (next !== '')
    namespaces.value = names
    readableMoment.value = at
  } catch (error) {
    if (at !== moment.value) return
    if (error instanceof ApiError && error.code === 403) {
      namespaces.value = undefined
      readableMoment.value = at
    } else await explainMoment(at, error)
  }
}

/** For a moment that is no longer retained, finds the oldest retained one, if the user may read the timeline. */
async function explainMoment(at: string, error: unknown): Promise<void> {
  const isForgotten = error instanceof ApiError && error.code === 410
  const oldest = isForgotten
    ? await readTimeline({ limit: '1' }).then(
        (answer) => String(Number(answer.oldest) + 1),
        () => '',
      )
    : ''
  if (at !== moment.value) return
  oldestMoment.value = oldest
  momentProblem.value = isForgotten ? `The state at ${/^\d+$/.test(at) ? `revision ${at}` : at} is not kept any more.` : messageOf(error)
}

/** Finds a kind by plural, singular, short name or kind. */
export function findKinds(text: string): Kind[] {
  const wanted = text.toLowerCase()
  const rank = ({ resource, kind, shortNames, group }: Kind): number => {
    if (resource === wanted || shortNames.includes(wanted) || kind.toLowerCase() === wanted) return 0
    if (resource.startsWith(wanted)) return 1
    return `${resource}.${group}`.includes(wanted) ? 2 : 3
  }
  const listed = [...kinds.value.values()].filter(({ verbs }) => verbs.includes('list'))
  const ranked = listed.map((kind) => ({ kind, rank: rank(kind) })).filter((one) => one.rank < 3)
  return ranked.sort((one, other) => one.rank - other.rank).map(({ kind }) => kind)
}

/** The kinds whose objects can be listed at the displayed moment. Kinds without watches are computed on request and have no past. */
export function listedKinds(): Kind[] {
  const isListed = ({ verbs }: Kind) => verbs.includes('list') && (moment.value === '' || verbs.includes('watch'))
  return [...kinds.value.values()].filter(isListed)
}
