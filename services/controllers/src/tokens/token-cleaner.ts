import { unlessGone } from '@orch/client'
import { bootstrapExpiryMs } from '@orch/core/tokens'
import { done, own, reconciler, requeueAfter } from '../reconciler/index.ts'
import { bootstrapSecrets } from './bootstrap-secrets.ts'

/** Maximum delay before a token is checked again, since timers cannot wait for a month. */
const waitMsMax = 24 * 60 * 60 * 1000

/** Deletes the Secrets of bootstrap tokens that have expired. */
export const tokenCleaner = reconciler('tokencleaner', ({ names }) => {
  const secrets = own('v1', 'secrets', bootstrapSecrets(names))
  return {
    watches: [secrets],
    workersMax: 1,
    reconcile: async ({ object: secret, world, clock, signal }) => {
      const expiresMs = bootstrapExpiryMs(secret)
      if (expiresMs === undefined) return done
      const leftMs = expiresMs - clock.now()
      if (leftMs > 0) return requeueAfter(Math.min(leftMs, waitMsMax))
      const { name = '', namespace, uid, resourceVersion } = secret.metadata
      const preconditions = { ...(uid === undefined ? {} : { uid }), ...(resourceVersion === undefined ? {} : { resourceVersion }) }
      await unlessGone(() => world.collection(secrets).delete(name, { namespace, signal }, { preconditions }))
      return done
    },
  }
})
