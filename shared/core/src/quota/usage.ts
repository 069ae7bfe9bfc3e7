import { allKinds } from '../catalogue/kinds/all-kinds.ts'
import type { ResourceName } from '../meta/status.ts'
import type { Names } from '../names.ts'
import { groupVersionOf, packageOf } from '../schema/resolve.ts'
import { type Amounts, maskAmounts } from './amounts.ts'
import { type Counting, countEach } from './measures.ts'
import { type ScopedSpec, scopeRequirements } from './scopes.ts'

/** Field manager of the controller that counts the use of quotas and writes it into their status. */
export function quotaManager({ controllerManager }: Names): string {
  return controllerManager
}

/** How objects of a resource count: as its kind says. */
export function countingOf(names: Names, resource: ResourceName): Counting {
  return measuredKinds(names).get(`${resource.group}/${resource.resource}`) ?? countEach(names, resource)
}

/** The resource whose objects a name is about; undefined: no objects are. */
export function resourceCountedBy(names: Names, name: string): ResourceName | undefined {
  if (name.startsWith('count/')) {
    const [resource = '', ...group] = name.slice('count/'.length).split('.')
    return { group: group.join('.'), resource }
  }
  for (const counting of measuredKinds(names).values()) if (counting.concerns(name)) return counting.resource
  return undefined
}

const measuredByNames = new WeakMap<Names, ReadonlyMap<string, Counting>>()

/** How the objects of those kinds count that say so, by group and plural. */
function measuredKinds(names: Names): ReadonlyMap<string, Counting> {
  const known = measuredByNames.get(names)
  if (known !== undefined) return known
  const made = new Map<string, Counting>()
  for (const { quota, storedAs, plural } of allKinds) {
    if (quota === undefined) continue
    const { group } = groupVersionOf(names, packageOf(storedAs))
    made.set(`${group}/${plural}`, quota(names, { group, resource: plural }))
  }
  measuredByNames.set(names, made)
  return made
}

/** Whether a quota is for an object: it limits something of such objects, and every expression is true of this one. */
export function isQuotaFor(spec: ScopedSpec, hard: Amounts, counting: Counting, object: unknown): boolean {
  return [...hard.keys()].some(counting.concerns) && scopeRequirements(spec).every((term) => counting.isInScope(object, term))
}

/** What a quota is for, and what it limits. */
interface QuotaLimits {
  readonly spec: ScopedSpec
  readonly hard: Amounts
}

/** What objects of one resource count for in a quota. */
export function usageIn({ spec, hard }: QuotaLimits, counting: Counting, object: unknown, nowMs: number): Amounts {
  return isQuotaFor(spec, hard, counting, object) ? maskAmounts(counting.usage(object, nowMs), hard) : new Map()
}
