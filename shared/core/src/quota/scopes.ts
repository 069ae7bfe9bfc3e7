import type { ClaimToCount, PodAffinityToCount, PodToCount } from './objects.ts'
import { qosClassOf } from './pod-amounts.ts'

/** A scope requirement for objects. */
export interface ScopeRequirement {
  readonly scopeName: string
  readonly operator: string
  readonly values?: readonly string[]
}

/** The part of a quota's spec that selects objects. */
export interface ScopedSpec {
  readonly scopes?: readonly string[]
  readonly scopeSelector?: { readonly matchExpressions?: readonly ScopeRequirement[] }
}

/** All requirements that an object must meet; a plain scope means Exists. */
export function scopeRequirements({ scopes = [], scopeSelector }: ScopedSpec): readonly ScopeRequirement[] {
  return [...scopes.map((scopeName) => ({ scopeName, operator: 'Exists' })), ...(scopeSelector?.matchExpressions ?? [])]
}

/** True if a Pod meets a requirement. */
export function isPodInScope(pod: PodToCount, { scopeName, operator, values = [] }: ScopeRequirement): boolean {
  const { spec } = pod
  switch (scopeName) {
    case 'Terminating':
      return (spec?.activeDeadlineSeconds ?? -1) >= 0
    case 'NotTerminating':
      return (spec?.activeDeadlineSeconds ?? -1) < 0
    case 'BestEffort':
      return qosClassOf(spec) === 'BestEffort'
    case 'NotBestEffort':
      return qosClassOf(spec) !== 'BestEffort'
    case 'PriorityClass':
      return comparesTo(spec?.priorityClassName ?? '', operator, values)
    case 'CrossNamespacePodAffinity':
      return namesOtherNamespaces(spec?.affinity?.podAffinity) || namesOtherNamespaces(spec?.affinity?.podAntiAffinity)
  }
  return false
}

/** True if a claim meets a requirement. Validation refuses scopes of levels without VolumeAttributesClasses. */
export function isClaimInScope({ spec, status }: ClaimToCount, { scopeName, operator, values = [] }: ScopeRequirement): boolean {
  if (scopeName !== 'VolumeAttributesClass') return false
  const { currentVolumeAttributesClassName: current, modifyVolumeStatus } = status ?? {}
  const classes = [spec?.volumeAttributesClassName, current, modifyVolumeStatus?.targetVolumeAttributesClassName].filter(Boolean)
  return (classes.length === 0 ? [''] : classes).some((name = '') => comparesTo(name, operator, values))
}

function comparesTo(name: string, operator: string, values: readonly string[]): boolean {
  if (operator === 'Exists') return name !== ''
  if (operator === 'DoesNotExist') return name === ''
  return values.includes(name) === (operator === 'In')
}

function namesOtherNamespaces(affinity: PodAffinityToCount | undefined): boolean {
  const terms = [
    ...(affinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []),
    ...(affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(({ podAffinityTerm }) => podAffinityTerm),
  ]
  return terms.some((term) => (term?.namespaces ?? []).length > 0 || term?.namespaceSelector != null)
}
