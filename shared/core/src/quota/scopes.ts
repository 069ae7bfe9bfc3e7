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

/** The scopes of Pods. */
const podScopes: ReadonlyMap<string, (spec: PodToCount['spec'], requirement: ScopeRequirement) => boolean> = new Map(
  Object.entries({
    Terminating: (spec) => (spec?.activeDeadlineSeconds ?? -1) >= 0,
    NotTerminating: (spec) => (spec?.activeDeadlineSeconds ?? -1) < 0,
    BestEffort: (spec) => qosClassOf(spec) === 'BestEffort',
    NotBestEffort: (spec) => qosClassOf(spec) !== 'BestEffort',
    PriorityClass: (spec, { operator, values = [] }) => comparesTo(spec?.priorityClassName ?? '', operator, values),
    CrossNamespacePodAffinity: (spec) =>
      namesOtherNamespaces(spec?.affinity?.podAffinity) || namesOtherNamespaces(spec?.affinity?.podAntiAffinity),
  }),
)

/** True if a Pod meets a requirement. */
export function isPodInScope({ spec }: PodToCount, requirement: ScopeRequirement): boolean {
  return podScopes.get(requirement.scopeName)?.(spec, requirement) ?? false
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
