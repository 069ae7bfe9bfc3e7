import { type ResourceClient, unlessGone } from '@orch/client'
import type { ApiObject } from '@orch/core/meta'
import { domainLabel } from '@orch/core/names'
import type { ControllerName } from '../controller-names.ts'
import { type Controller, type ControllerContext, done, own, reconciler } from '../reconciler/index.ts'

/** Deleted objects that stay while they are in use. */
export interface Protection {
  /** Plural of their kind in `v1`. */
  readonly plural: string
  /** Name of the finalizer in the product's domain. */
  readonly finalizer: string
  /** True if the object is in use now. `again` schedules another check. */
  isInUse(object: ApiObject, context: ControllerContext, again: () => void): Promise<boolean>
}

/** Removes the finalizer from unused objects under deletion. */
export function protectionController(name: ControllerName, createProtection: () => Protection): Controller {
  return reconciler(name, (context, loop) => {
    const protection = createProtection()
    const finalizer = domainLabel(context.names, protection.finalizer)
    const objects = own('v1', protection.plural, { isDue: ({ kind, object }) => kind !== 'deleted' && isHeld(object, finalizer) })
    return {
      watches: [objects],
      watchesMore: true,
      workersMax: 2,
      reconcile: async ({ key, object, world, signal }) => {
        if (!isHeld(object, finalizer)) return done
        if (await protection.isInUse(object, context, () => loop.wake(key))) return done
        await removeFinalizer(world.collection(objects), object, finalizer, signal)
        return done
      },
    }
  })
}

/** True for an object under deletion that has the finalizer. */
export function isHeld({ metadata }: ApiObject, finalizer: string): boolean {
  return metadata.deletionTimestamp != null && metadata.finalizers?.includes(finalizer) === true
}

export async function removeFinalizer(
  collection: ResourceClient,
  object: ApiObject,
  finalizer: string,
  signal: AbortSignal,
): Promise<void> {
  const finalizers = object.metadata.finalizers?.filter((name) => name !== finalizer) ?? []
  await unlessGone(() => collection.update({ ...object, metadata: { ...object.metadata, finalizers } }, { signal }))
}
