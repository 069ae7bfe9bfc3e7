import type { ApiObject } from '@orch/core/meta'
import type { Names } from '@orch/core/names'
import { requireType } from '@orch/core/schema'
import type { ControllerName } from '../controller-names.ts'
import { type Controller, done, mapped, own, reconciler } from '../reconciler/index.ts'

/** An object that every namespace has. */
export interface NamespaceObject {
  readonly controller: ControllerName
  /** Plural of its kind in `v1`. */
  readonly plural: string
  wanted(names: Names): ApiObject
  /** The object to write instead of the live one; undefined if the live one is up to date. */
  mended(live: ApiObject, wanted: ApiObject): ApiObject | undefined
}

const namespaces = own<ApiObject>('v1', 'namespaces')

/** Creates the object in each namespace that is not being deleted. */
export function namespaceObjectController({ controller, plural, wanted, mended }: NamespaceObject): Controller {
  return reconciler(controller, ({ names }) => {
    const object = wanted(names)
    const { name = '' } = object.metadata
    const objects = mapped('v1', plural, ({ object: { metadata } }) => [metadata.namespace ?? ''], {
      select: { fieldSelector: `metadata.name=${name}` },
    })
    return {
      watches: [namespaces, objects],
      reconcile: async ({ key: namespace, object: space, world, signal }) => {
        if (isGoing(space)) return done
        const live = world.read(objects).get(`${namespace}/${name}`)
        const placed = { ...object, metadata: { ...object.metadata, namespace } }
        if (live === undefined) await world.perform([{ kind: 'create', in: objects, object: placed }])
        const better = live && mended(live, placed)
        if (better !== undefined) await world.collection(objects).update(better, { signal })
        return done
      },
    }
  })
}

function isGoing(namespace: ApiObject): boolean {
  const { metadata, status } = requireType('core/v1.Namespace', namespace)
  return metadata.deletionTimestamp != null || status.phase === 'Terminating'
}
