import type { BuiltIn } from '../schema/built-in.ts'
import { type LabelSelector, matchesLabels, toLabelRequirements } from '../selectors/labels.ts'
import type { LabelRequirement } from '../selectors/selection.ts'
import type { Labels, Pod } from './objects.ts'

type Term = BuiltIn<'core/v1.PodAffinityTerm'>

/** A compiled Pod affinity term, for comparison with many Pods. */
export interface AffinityTerm {
  readonly topologyKey: string
  readonly namespaces: readonly string[]
  /** The namespace selector; undefined if namespaces are not selected by labels. */
  readonly namespaceSelector: readonly LabelRequirement[] | undefined
  /** Undefined if no Pod is selected. */
  readonly selector: readonly LabelRequirement[] | undefined
}

/** A preferred term with its weight, which is negative for anti-affinity. */
interface WeightedAffinityTerm extends AffinityTerm {
  readonly weight: number
}

/** A Pod's affinities to Pods. */
export interface PodTerms {
  readonly required: readonly AffinityTerm[]
  readonly requiredAnti: readonly AffinityTerm[]
  readonly preferred: readonly WeightedAffinityTerm[]
  /** The first invalid selector as a text; such a Pod fits nowhere. */
  readonly problem?: string
}

const noTerms: PodTerms = { required: [], requiredAnti: [], preferred: [] }

/** The affinities of a Pod. */
export function termsOf({ metadata, spec }: Pick<Pod, 'metadata' | 'spec'>): PodTerms {
  const { podAffinity, podAntiAffinity } = spec.affinity ?? {}
  if (podAffinity == null && podAntiAffinity == null) return noTerms
  const { namespace = '' } = metadata
  const problems: string[] = []
  const read = (list: readonly Term[] | undefined, what: string) =>
    (list ?? []).flatMap((term) => {
      const compiled = compileTerm(term, namespace)
      if (typeof compiled !== 'string') return [compiled]
      problems.push(`${what}: ${compiled}`)
      return []
    })
  const readWeighted = (list: readonly BuiltIn<'core/v1.WeightedPodAffinityTerm'>[] | undefined, sign: 1 | -1, what: string) =>
    (list ?? []).flatMap(({ weight, podAffinityTerm }) => read([podAffinityTerm], what).map((term) => ({ ...term, weight: weight * sign })))
  const terms = {
    required: read(podAffinity?.requiredDuringSchedulingIgnoredDuringExecution, 'requiredAffinityTerms'),
    requiredAnti: read(podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution, 'requiredAntiAffinityTerms'),
    preferred: [
      ...readWeighted(podAffinity?.preferredDuringSchedulingIgnoredDuringExecution, 1, 'preferredAffinityTerms'),
      ...readWeighted(podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution, -1, 'preferredAntiAffinityTerms'),
    ],
  }
  const [problem] = problems
  return problem === undefined ? terms : { ...terms, problem }
}

/** A text is the error of an invalid selector. */
function compileTerm({ labelSelector, namespaceSelector, namespaces = [], topologyKey }: Term, own: string): AffinityTerm | string {
  const selector = readSelector(labelSelector)
  if (typeof selector === 'string') return selector
  const ofNamespaces = readSelector(namespaceSelector)
  if (typeof ofNamespaces === 'string') return ofNamespaces
  const usesOwn = namespaces.length === 0 && ofNamespaces === undefined
  return { topologyKey, namespaces: usesOwn ? [own] : namespaces, namespaceSelector: ofNamespaces, selector }
}

/** A missing selector selects nothing. A text is the error of an invalid one. */
export function readSelector(selector: LabelSelector | null | undefined): readonly LabelRequirement[] | string | undefined {
  if (selector == null) return undefined
  const reading = toLabelRequirements(selector)
  return reading.kind === 'selector' ? reading.requirements : reading.message
}

/** The parts of a Pod that terms are compared with. */
export interface TermSubject {
  readonly namespace: string
  readonly labels: Labels | undefined
}

/** True if the term selects the Pod. `namespaceLabels` are those of the Pod's namespace. */
export function matchesAffinity(term: AffinityTerm, { namespace, labels }: TermSubject, namespaceLabels: Labels | undefined): boolean {
  const { namespaces, namespaceSelector, selector } = term
  if (selector === undefined || !matchesLabels(selector, labels)) return false
  return namespaces.includes(namespace) || (namespaceSelector !== undefined && matchesLabels(namespaceSelector, namespaceLabels))
}
