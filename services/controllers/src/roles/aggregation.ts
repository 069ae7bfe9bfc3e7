import { type ResourceAddress, startInformer } from '@orch/client'
import { jsonEqual } from '@orch/core/json'
import { domainGroup } from '@orch/core/names'
import { aggregatedRules, type RoleObject } from '@orch/core/rbac'
import { createWorkqueue, sleep } from '@orch/platform'
import type { Controller } from '../controller.ts'
import { unlessGone } from '../unless-refused.ts'

/** As what gathered rules are applied, so that their owner can be seen. */
export const aggregationManager = 'clusterrole-aggregation-controller'

/** Keeps the rules of cluster roles with an aggregation rule equal to those of the roles that they gather from. */
export const aggregationController: Controller = {
  name: 'clusterrole-aggregation',
  async run({ client, names, queues, clock, random, log, signal }) {
    const resource: ResourceAddress = {
      group: domainGroup(names, 'rbac.authorization'),
      version: 'v1',
      plural: 'clusterroles',
      namespaced: false,
    }
    const collection = client.resource<RoleObject>(resource)
    const known = new Map<string, RoleObject>()
    const aggregate = async (name: string): Promise<void> => {
      const role = known.get(name)
      if (role === undefined || !role.aggregationRule) return
      const rules = aggregatedRules(role, known.values())
      if (jsonEqual(rules, role.rules ?? [])) return
      // With its uid, a role that has gone is not made anew.
      const metadata = { name, uid: role.metadata.uid }
      const applied = { apiVersion: `${resource.group}/${resource.version}`, kind: 'ClusterRole', metadata, rules }
      await unlessGone(() => collection.patch(name, applied, { type: 'apply', fieldManager: aggregationManager, force: true, signal }))
    }
    const queue = createWorkqueue({
      name: 'clusterrole-aggregation',
      metrics: queues,
      work: aggregate,
      onError: (name, error) => log.debug({ role: name, err: error }, 'the rules of a role could not be gathered yet'),
      clock,
      random,
      signal,
      workersMax: 1,
    })
    // Any role may give to any other; there are few that gather.
    const addAll = () => {
      for (const [name, role] of known) if (role.aggregationRule) queue.add(name)
    }
    // Half of the roles would make a role that has half of its rules.
    let isComplete = false
    const informer = startInformer<RoleObject>({
      resource: collection,
      select: {},
      signal,
      sleep: (delayMs, ending) => sleep(clock, delayMs, ending),
      random,
      onEvent: ({ kind, object }) => {
        const name = object.metadata.name ?? ''
        if (kind === 'deleted') known.delete(name)
        else known.set(name, object)
        if (isComplete) addAll()
      },
      onError: (error) => log.debug({ err: error }, 'cluster roles are listed or watched again'),
    })
    const complete = informer.synced.then(() => {
      isComplete = true
      addAll()
    })
    await Promise.race([complete, informer.done])
    await informer.done
    await queue.close()
  },
}
