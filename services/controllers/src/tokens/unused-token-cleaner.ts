import { unlessGone } from '@orch/client'
import type { ApiObject } from '@orch/core/meta'
import { decideUnusedToken, invalidSinceLabel, mayUseSecret, trackedFromMs, trackingMapName } from '@orch/core/tokens'
import { done, reconciler, requeueAfter, type World } from '../reconciler/index.ts'
import { accountNameOf, configMaps, isTheirs, refersTo, tokenSecrets } from './account-secret-tokens.ts'

const dayMs = 24 * 60 * 60 * 1000
const periodMs = 365 * dayMs

/**
 * Marks Secrets of tokens that were not used for a year as invalid, and deletes them after another year: those that were made for a service
 * account, which refers to them, and that no Pod uses (WL-SA-01).
 */
export const unusedTokenCleaner = reconciler('legacy-serviceaccount-token-cleaner', ({ names }) => {
  const secrets = tokenSecrets(names)
  return {
    watches: [secrets],
    workersMax: 1,
    reconcile: async ({ object: secret, world, clock, signal }) => {
      const nowMs = clock.now()
      const step = decideUnusedToken(secret, names, { nowMs, periodMs })
      if (step.kind === 'wait') return Number.isFinite(step.untilMs) ? requeueAfter(wait(step.untilMs - nowMs), { background: true }) : done
      if (!(await isUnused(secret, world, { nowMs, signal }))) return requeueAfter(dayMs, { background: true })
      const { name = '', namespace, uid, resourceVersion } = secret.metadata
      const collection = world.collection(secrets)
      await unlessGone(async () => {
        if (step.kind === 'delete') return collection.delete(name, { namespace, signal }, { preconditions: { resourceVersion } })
        const patch = { metadata: { uid, labels: { [invalidSinceLabel(names)]: step.day } } }
        return collection.patch(name, patch, { type: 'merge', namespace, signal })
      })
      return done
    },
  }
})

/** Timers cannot wait for a year. */
function wait(leftMs: number): number {
  return Math.min(leftMs, dayMs)
}

interface Moment {
  readonly nowMs: number
  readonly signal: AbortSignal
}

/** True if uses have been noted for long enough, and neither an account of another time nor a Pod can need the token. */
async function isUnused(secret: ApiObject, { client, names }: World, { nowMs, signal }: Moment): Promise<boolean> {
  const { name = '', namespace } = secret.metadata
  const resource = (plural: string) => client.resource({ ...configMaps, plural })
  const map = await unlessGone(() => client.resource(configMaps).get(trackingMapName, { namespace: names.systemNamespace, signal }))
  if (nowMs < ((map && trackedFromMs(map, periodMs)) ?? Number.POSITIVE_INFINITY)) return false
  const account = await unlessGone(() => resource('serviceaccounts').get(accountNameOf(secret, names), { namespace, signal }))
  if (account === undefined || !isTheirs(secret, account, names) || !refersTo(account, name)) return false
  const { items } = await resource('pods').listAll({ namespace, signal })
  return !items.some((pod) => mayUseSecret(pod, name))
}
