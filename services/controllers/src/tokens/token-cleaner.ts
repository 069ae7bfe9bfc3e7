import { bootstrapExpiryMs } from '@orch/core/tokens'
import { createWorkqueue } from '@orch/platform'
import type { Controller } from '../controller.ts'
import { unlessRefused } from '../unless-refused.ts'
import { secrets, startBootstrapSecretInformer } from './bootstrap-secrets.ts'

/** Longest that is waited for a token to expire before it is looked at again: timers cannot wait for a month. */
const waitMsMax = 24 * 60 * 60 * 1000

/** Deletes the Secrets of bootstrap tokens that have expired. */
export const tokenCleaner: Controller = {
  name: 'tokencleaner',
  async run(context) {
    const { client, names, queues, clock, random, log, signal } = context
    const namespace = names.systemNamespace
    const clean = async (name: string): Promise<void> => {
      const secret = informer.get(name, namespace)
      const expiresMs = secret === undefined ? undefined : bootstrapExpiryMs(secret)
      if (secret === undefined || expiresMs === undefined) return
      const leftMs = expiresMs - clock.now()
      if (leftMs > 0) return queue.addAfter(name, Math.min(leftMs, waitMsMax))
      const { uid, resourceVersion } = secret.metadata
      const preconditions = { ...(uid === undefined ? {} : { uid }), ...(resourceVersion === undefined ? {} : { resourceVersion }) }
      // Another client has deleted or changed it: then there is another event.
      await unlessRefused(['NotFound', 'Conflict'], () => client.resource(secrets).delete(name, { namespace, signal }, { preconditions }))
    }
    const queue = createWorkqueue({
      name: 'tokencleaner',
      metrics: queues,
      work: clean,
      onError: (name, error) => log.warn({ secret: name, err: error }, 'an expired bootstrap token could not be deleted yet'),
      clock,
      random,
      signal,
      workersMax: 1,
    })
    const informer = startBootstrapSecretInformer(context, (name) => queue.add(name))
    await informer.done
    await queue.close()
  },
}
