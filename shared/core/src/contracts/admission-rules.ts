import { getOrMake } from '@orch/cel/memo'
import type { AdmissionRule, Attributes } from './admission.ts'

/** The attributes of a request that decide which admission rules match it. */
export type RulePlace = Pick<Attributes, 'operation' | 'group' | 'resource' | 'subresource' | 'namespace'>

/** Finds the owners of admission rules that match a request. */
export interface AdmissionRuleIndex<T> {
  /** The owners in the given order, each once. */
  find(phase: string, place: RulePlace): readonly T[]
}

/** An admission rule and its owner. */
export interface IndexedRule<T> {
  readonly admissionRule: AdmissionRule
  readonly value: T
}

/** `value` has a rule for these namespaces; undefined for all namespaces and for cluster-scoped objects. */
interface Candidate<T> {
  readonly value: T
  readonly namespaces: ReadonlySet<string> | undefined
}

interface Row<T> {
  readonly candidates: readonly Candidate<T>[]
  /** Set if the result is the same for all namespaces. */
  readonly everywhere: readonly T[] | undefined
}

const none: readonly never[] = []

/** Rows by phase. */
type Phases<T> = Map<string, Row<T>>

/**
 * Phases by resource, subresource, group and operation. A look-up by each of these existing texts costs less
 * than concatenating them.
 */
type Places<T> = Map<string, Map<string, Map<string, Map<string, Phases<T>>>>>

/** Creates an index. It caches the results for each kind of request. */
export function createAdmissionRuleIndex<T>(indexedRules: readonly IndexedRule<T>[]): AdmissionRuleIndex<T> {
  const places: Places<T> = new Map()
  // One request asks about the same place several times in a row.
  let last: RulePlace | undefined
  let phases: Phases<T> = new Map()
  const phasesOf = (place: RulePlace): Phases<T> => {
    if (last === undefined || !isSamePlace(last, place)) {
      const { resource, subresource, group, operation } = place
      const bySubresource = getOrMake(places, resource, () => new Map())
      const byGroup = getOrMake(bySubresource, subresource, () => new Map())
      phases = getOrMake(
        getOrMake(byGroup, group, () => new Map()),
        operation,
        () => new Map(),
      )
      last = { resource, subresource, group, operation, namespace: '' }
    }
    return phases
  }
  const make = (phase: string, place: RulePlace): Row<T> => {
    const row = rowOf(indexedRules, phase, place)
    phasesOf(place).set(phase, row)
    return row
  }
  return {
    find(phase, place) {
      const row = phasesOf(place).get(phase) ?? make(phase, place)
      if (row.everywhere !== undefined) return row.everywhere
      return row.candidates.filter(({ namespaces }) => namespaces?.has(place.namespace) !== false).map(({ value }) => value)
    },
  }
}

/** True if two places are equal except for the namespace. */
function isSamePlace(one: RulePlace, other: RulePlace): boolean {
  return (
    one.resource === other.resource &&
    one.operation === other.operation &&
    one.subresource === other.subresource &&
    one.group === other.group
  )
}

function rowOf<T>(indexedRules: readonly IndexedRule<T>[], phase: string, place: RulePlace): Row<T> {
  const byValue = new Map<T, Set<string> | undefined>()
  for (const { admissionRule, value } of indexedRules) {
    if (!isAbout(admissionRule, phase, place)) continue
    const known = byValue.get(value)
    if (byValue.has(value) && known === undefined) continue
    if (admissionRule.namespaces.length === 0) byValue.set(value, undefined)
    else byValue.set(value, new Set([...(known ?? []), ...admissionRule.namespaces]))
  }
  const candidates = [...byValue].map(([value, namespaces]) => ({ value, namespaces }))
  if (candidates.length === 0) return { candidates, everywhere: none }
  const isEverywhere = candidates.every(({ namespaces }) => namespaces === undefined)
  return { candidates, everywhere: isEverywhere ? candidates.map(({ value }) => value) : undefined }
}

function isAbout({ phase, operations, groups, resources }: AdmissionRule, asked: string, place: RulePlace): boolean {
  if (phase !== '*' && phase !== asked) return false
  if (!operations.includes('*') && !operations.includes(place.operation)) return false
  if (groups.includes(`-${place.group}`) || (!groups.includes('*') && !groups.includes(place.group))) return false
  return resources.some((wanted) => isResource(wanted, place))
}

function isResource(wanted: string, { resource, subresource }: RulePlace): boolean {
  if (wanted === '*/*') return true
  if (!wanted.includes('/')) return subresource === '' && (wanted === '*' || wanted === resource)
  const [wantedResource, wantedSubresource] = wanted.split('/')
  if (subresource === '' && wantedSubresource === '*') return false
  const fitsResource = wantedResource === '*' || wantedResource === resource
  return fitsResource && (wantedSubresource === '*' || wantedSubresource === subresource)
}
