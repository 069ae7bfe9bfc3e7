import { memo } from '@orch/cel/memo'
import type { ResourceName } from '../meta/status.ts'
import type { Names } from '../names.ts'
import { type Counting, countEach } from '../quota/measures.ts'
import { groupVersionOf, packageOf } from '../schema/resolve.ts'
import { allKinds } from './kinds/index.ts'

/** The counting of a resource by quotas, from its kind. */
export function countingOf(names: Names, resource: ResourceName): Counting {
  return measuredKinds(names).get(`${resource.group}/${resource.resource}`) ?? countEach(names, resource)
}

/** The resource whose objects a quota name counts; undefined if it counts no objects. */
export function resourceCountedBy(names: Names, name: string): ResourceName | undefined {
  if (name.startsWith('count/')) {
    const [resource = '', ...group] = name.slice('count/'.length).split('.')
    return { group: group.join('.'), resource }
  }
  for (const counting of measuredKinds(names).values()) if (counting.concerns(name)) return counting.resource
  return undefined
}

/** The countings of kinds that declare one, by group and plural. */
const measuredKinds = memo((names: Names): ReadonlyMap<string, Counting> => {
  const made = new Map<string, Counting>()
  for (const { quota, storedAs, plural } of allKinds) {
    if (quota === undefined) continue
    const { group } = groupVersionOf(names, packageOf(storedAs))
    made.set(`${group}/${plural}`, quota(names, { group, resource: plural }))
  }
  return made
})
