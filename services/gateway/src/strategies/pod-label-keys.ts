import type { BuiltIn, MutableBuiltIn } from '@orch/core/schema'

type Term = BuiltIn<'core/v1.PodAffinityTerm'>
type Selector = BuiltIn<'meta/v1.LabelSelector'>
type Labels = Readonly<Record<string, string>>
type Affinity = NonNullable<BuiltIn<'core/v1.Affinity'>['podAffinity']>

/** The first level at which the keys of spread constraints are merged: the gate MatchLabelKeysInPodTopologySpreadSelectorMerge. */
const spreadMergedSince = 34

/**
 * Merges labels of a new Pod, which its affinity and its spread name by their keys, into the selectors of the same terms.
 *
 *   labels {ver: '1'}, matchLabelKeys [ver], labelSelector {}:   labelSelector {matchExpressions: [ver In [1]]}
 */
export function mergeLabelKeys(pod: MutableBuiltIn<'core/v1.Pod'>, level: number): void {
  const labels = pod.metadata.labels ?? {}
  const { affinity, topologySpreadConstraints } = pod.spec
  const { podAffinity, podAntiAffinity } = affinity ?? {}
  if (podAffinity != null || podAntiAffinity != null) {
    const merged = {
      ...(podAffinity == null ? {} : { podAffinity: mergeTerms(podAffinity, labels) }),
      ...(podAntiAffinity == null ? {} : { podAntiAffinity: mergeTerms(podAntiAffinity, labels) }),
    }
    pod.spec = { ...pod.spec, affinity: { ...affinity, ...merged } }
  }
  if (level < spreadMergedSince || topologySpreadConstraints === undefined) return
  pod.spec = { ...pod.spec, topologySpreadConstraints: topologySpreadConstraints.map((constraint) => mergeTerm(constraint, labels)) }
}

function mergeTerms(affinity: Affinity, labels: Labels): Affinity {
  const { requiredDuringSchedulingIgnoredDuringExecution: required, preferredDuringSchedulingIgnoredDuringExecution: preferred } = affinity
  return {
    ...affinity,
    ...(required && { requiredDuringSchedulingIgnoredDuringExecution: required.map((term) => mergeTerm(term, labels)) }),
    ...(preferred && {
      preferredDuringSchedulingIgnoredDuringExecution: preferred.map((one) => ({
        ...one,
        podAffinityTerm: mergeTerm(one.podAffinityTerm, labels),
      })),
    }),
  }
}

/** An absent selector selects nothing, and stays absent. */
function mergeTerm<T extends Pick<Term, 'labelSelector' | 'matchLabelKeys' | 'mismatchLabelKeys'>>(term: T, labels: Labels): T {
  const { labelSelector, matchLabelKeys = [], mismatchLabelKeys = [] } = term
  const added = [...requirements(matchLabelKeys, 'In', labels), ...requirements(mismatchLabelKeys, 'NotIn', labels)]
  if (labelSelector == null || added.length === 0) return term
  const matchExpressions = [...(labelSelector.matchExpressions ?? []), ...added]
  return { ...term, labelSelector: { ...labelSelector, matchExpressions } }
}

function requirements(keys: readonly string[], operator: string, labels: Labels): NonNullable<Selector['matchExpressions']> {
  return keys.flatMap((key) => (Object.hasOwn(labels, key) ? [{ key, operator, values: [labels[key] ?? ''] }] : []))
}
