import type { Attributes, Interest } from './admission.ts'

/** What of a request decides whether somebody is interested in it. */
export type InterestPlace = Pick<Attributes, 'operation' | 'group' | 'resource' | 'subresource' | 'namespace'>

/** Finds those who are interested in a request. */
export interface InterestIndex<T> {
  /** In the given order, each once. */
  find(phase: string, place: InterestPlace): readonly T[]
}

/** Somebody, and one of their interests. */
export interface Interested<T> {
  readonly interest: Interest
  readonly value: T
}

/** `value` is interested in the namespaces, or where they are absent in all and what lies in none. */
interface Candidate<T> {
  readonly value: T
  readonly namespaces: ReadonlySet<string> | undefined
}

interface Row<T> {
  readonly candidates: readonly Candidate<T>[]
  /** Present where no namespace makes a difference. */
  readonly everywhere: readonly T[] | undefined
}

const nobody: readonly never[] = []

/** Requests of one kind are looked up by one text; what was found for it is kept as long as the index. */
export function createInterestIndex<T>(interested: readonly Interested<T>[]): InterestIndex<T> {
  const rows = new Map<string, Row<T>>()
  return {
    find(phase, place) {
      const key = `${phase} ${place.operation} ${place.group} ${place.resource}/${place.subresource}`
      let row = rows.get(key)
      if (row === undefined) {
        row = rowOf(interested, phase, place)
        rows.set(key, row)
      }
      if (row.everywhere !== undefined) return row.everywhere
      return row.candidates.filter(({ namespaces }) => namespaces?.has(place.namespace) !== false).map(({ value }) => value)
    },
  }
}

function rowOf<T>(interested: readonly Interested<T>[], phase: string, place: InterestPlace): Row<T> {
  const byValue = new Map<T, Set<string> | undefined>()
  for (const { interest, value } of interested) {
    if (!isAbout(interest, phase, place)) continue
    const known = byValue.get(value)
    if (byValue.has(value) && known === undefined) continue
    if (interest.namespaces.length === 0) byValue.set(value, undefined)
    else byValue.set(value, new Set([...(known ?? []), ...interest.namespaces]))
  }
  const candidates = [...byValue].map(([value, namespaces]) => ({ value, namespaces }))
  if (candidates.length === 0) return { candidates, everywhere: nobody }
  const isEverywhere = candidates.every(({ namespaces }) => namespaces === undefined)
  return { candidates, everywhere: isEverywhere ? candidates.map(({ value }) => value) : undefined }
}

function isAbout({ phase, operations, groups, resources }: Interest, asked: string, place: InterestPlace): boolean {
  if (phase !== '*' && phase !== asked) return false
  if (!operations.includes('*') && !operations.includes(place.operation)) return false
  if (!groups.includes('*') && !groups.includes(place.group)) return false
  return resources.some((wanted) => isResource(wanted, place))
}

function isResource(wanted: string, { resource, subresource }: InterestPlace): boolean {
  if (wanted === '*/*') return true
  if (!wanted.includes('/')) return subresource === '' && (wanted === '*' || wanted === resource)
  const [wantedResource, wantedSubresource] = wanted.split('/')
  if (subresource === '' && wantedSubresource === '*') return false
  const fitsResource = wantedResource === '*' || wantedResource === resource
  return fitsResource && (wantedSubresource === '*' || wantedSubresource === subresource)
}
