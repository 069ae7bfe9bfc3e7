import { unlessGone } from '@orch/client'
import { jsonEqual } from '@orch/core/json'
import { domainGroup } from '@orch/core/names'
import { aggregatedRules, type RoleObject } from '@orch/core/rbac'
import { type Caches, done, mapped, own, reconciler } from '../reconciler/index.ts'

/** The field manager of aggregated rules. */
export const aggregationManager = 'clusterrole-aggregation-controller'

/** Keeps the rules of cluster roles with an aggregation rule equal to those of their source roles. */
export const aggregationController = reconciler<RoleObject>('clusterrole-aggregation', ({ names }) => {
  const groupVersion = `${domainGroup(names, 'rbac.authorization')}/v1`
  const gathering = own<RoleObject>(groupVersion, 'clusterroles', { isDue: ({ object }) => Boolean(object.aggregationRule) })
  // Any role may be a source of any other; few roles aggregate.
  const toGathering = (_event: unknown, caches: Caches) =>
    [...caches.read(gathering).values()].flatMap(({ metadata, aggregationRule }) => (aggregationRule ? (metadata.name ?? []) : []))
  return {
    watches: [gathering, mapped<RoleObject>(groupVersion, 'clusterroles', toGathering)],
    workersMax: 1,
    reconcile: async ({ key: name, object: role, world, signal }) => {
      if (!role.aggregationRule) return done
      const rules = aggregatedRules(role, world.read(gathering).values())
      if (jsonEqual(rules, role.rules ?? [])) return done
      // With its uid, a deleted role is not recreated.
      const applied = { apiVersion: groupVersion, kind: 'ClusterRole', metadata: { name, uid: role.metadata.uid }, rules }
      const options = { type: 'apply', fieldManager: aggregationManager, force: true, signal } as const
      await unlessGone(() => world.collection(gathering).patch(name, applied, options))
      return done
    },
  }
})
