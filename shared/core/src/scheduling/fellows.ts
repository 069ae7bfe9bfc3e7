import type { OwnerReference } from '../meta/object-meta.ts'
import { type LabelSelector, matchesLabels, toLabelRequirements } from '../selectors/labels.ts'
import type { LabelRequirement } from '../selectors/selection.ts'
import type { Labels, Pod } from './objects.ts'

/** The objects by which Pods belong together. */
export interface FellowSources {
  /** The selectors of the Services of a namespace. */
  serviceSelectors(namespace: string): Iterable<Labels | null | undefined>
  /** The selector of the controller that owns a Pod. Undefined: it has none, or is not known. */
  ownerSelector(owner: OwnerReference, namespace: string): LabelSelector | null | undefined
}

/** The terms that select the Pods of the same Services and of the same owner. */
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

/** None for a selector that cannot be read. */
function termsOf(selector: LabelSelector): readonly LabelRequirement[] {
  const reading = toLabelRequirements(selector)
  return reading.kind === 'selector' ? reading.requirements : []
}
