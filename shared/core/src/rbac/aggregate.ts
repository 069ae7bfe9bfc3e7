import { matchesLabels, toLabelRequirements } from '../selectors/labels.ts'
import type { PolicyRule, RoleObject } from './rule.ts'

/**
 * The rules of an aggregated role: those of all other cluster roles that match one of its selectors,
 * ordered by role name, without duplicates.
 */
export function aggregatedRules(role: RoleObject, clusterRoles: Iterable<RoleObject>): PolicyRule[] {
  const selectors = (role.aggregationRule?.clusterRoleSelectors ?? []).map(toLabelRequirements)
  const isMeant = ({ metadata }: RoleObject): boolean =>
    metadata.name !== role.metadata.name &&
    selectors.some((reading) => reading.kind === 'selector' && matchesLabels(reading.requirements, metadata.labels))
  const sources = [...clusterRoles].filter(isMeant).sort((left, right) => (nameOf(left) < nameOf(right) ? -1 : 1))
  const rules = new Map<string, PolicyRule>()
  for (const source of sources) {
    for (const rule of source.rules ?? []) {
      const identity = JSON.stringify(Object.entries(rule).sort(([left], [right]) => (left < right ? -1 : 1)))
      if (!rules.has(identity)) rules.set(identity, rule)
    }
  }
  return [...rules.values()]
}

function nameOf({ metadata }: RoleObject): string {
  return metadata.name ?? ''
}
