import type { ResourceAddress, ResourceClient } from '@orch/client'
import type { ApiObject } from '@orch/core/meta'
import { domainLabel } from '@orch/core/names'
import { createWorkqueue } from '@orch/platform'
import type { Controller, ControllerContext, ControllerName } from '../controller.ts'
import { startCollectionInformer } from '../informers/collection-informer.ts'
import { unlessGone } from '../unless-refused.ts'

/** Deleted objects that stay for as long as they are in use. */
export interface Protection {
  readonly controller: ControllerName
  readonly resource: ResourceAddress
  /** Name of the finalizer in the product's domain. */
  readonly finalizer: string
  /** Whether the object is in use now. `again` schedules another check when that may have changed. */
  isInUse(object: ApiObject, context: ControllerContext, again: () => void): Promise<boolean>
  /** Ends what was begun to learn when an object is no longer in use. */
  close(): void
}

/** Removes the finalizer from objects that are being deleted and are not in use. */
export function protectionController(createProtection: () => Protection, name: ControllerName): Controller {
  return {
    name,
    async run(context) {
      const { client, names, queues, clock, random, log, signal } = context
      const protection = createProtection()
      const finalizer = domainLabel(names, protection.finalizer)
      const collection = client.resource(protection.resource)
      const release = async (key: string): Promise<void> => {
        const [namespace = '', objectName = ''] = key.split('/')
        const object = informer.get(objectName, namespace === '' ? undefined : namespace)
        if (object === undefined || !isHeld(object, finalizer)) return
        if (await protection.isInUse(object, context, () => queue.add(key))) return
        await removeFinalizer(collection, object, finalizer, signal)
      }
      const queue = createWorkqueue({
        name,
        metrics: queues,
        work: release,
        onError: (key, error) =>
          log.debug({ object: key, err: error }, 'the finalizer of an object that is not in use could not be removed yet'),
        clock,
        random,
        signal,
        workersMax: 2,
      })
      const informer = startCollectionInformer(context, {
        resource: protection.resource,
        onEvent: ({ kind, object }) => {
          const { namespace = '', name } = object.metadata
          if (kind !== 'deleted' && isHeld(object, finalizer)) queue.add(`${namespace}/${name}`)
        },
      })
      await informer.done
      protection.close()
      await queue.close()
    },
  }
}

function isHeld({ metadata }: ApiObject, finalizer: string): boolean {
  return metadata.deletionTimestamp != null && metadata.finalizers?.includes(finalizer) === true
}

async function removeFinalizer(collection: ResourceClient, object: ApiObject, finalizer: string, signal: AbortSignal): Promise<void> {
  const finalizers = object.metadata.finalizers?.filter((name) => name !== finalizer) ?? []
  await unlessGone(() => collection.update({ ...object, metadata: { ...object.metadata, finalizers } }, { signal }))
}
