import type { OwnerReference } from '../meta/object-meta.ts'
import { type LabelSelector, matchesLabels, toLabelRequirements } from '../selectors/labels.ts'
import type { LabelRequirement } from '../selectors/selection.ts'
import type { Labels, Pod } from './objects.ts'

/** The objects that group Pods. */
export interface FellowSources {
  serviceSelectors(namespace: string): Iterable<Labels | null | undefined>
  /** The selector of a Pod's controller; undefined if it has none or is unknown. */
  ownerSelector(owner: OwnerReference, namespace: string): LabelSelector | null | undefined
}

/** The terms that select Pods of the same Services and of the same owner. */
export function fellowTerms({ metadata }: Pod, sources: FellowSources): readonly LabelRequirement[] {
  const { namespace = '', labels, ownerReferences } = metadata
  const owner = ownerReferences?.find(({ controller }) => controller === true)
  const matchLabels: Record<string, string> = {}
  for (const selector of sources.serviceSelectors(namespace)) {
    if (selector != null && matchesLabels(termsOf({ matchLabels: selector }), labels)) Object.assign(matchLabels, selector)
  }
  const owned = owner === undefined ? undefined : sources.ownerSelector(owner, namespace)
  return [...termsOf({ matchLabels }), ...(owned == null ? [] : termsOf(owned))]
}

/** Empty for an invalid selector. */
function termsOf(selector: LabelSelector): readonly LabelRequirement[] {
  const reading = toLabelRequirements(selector)
  return reading.kind === 'selector' ? reading.requirements : []
}
