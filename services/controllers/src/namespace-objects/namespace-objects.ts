import type { ResourceAddress } from '@orch/client'
import { type ApiObject, StatusError } from '@orch/core/meta'
import type { Names } from '@orch/core/names'
import { requireType } from '@orch/core/schema'
import { createWorkqueue } from '@orch/platform'
import { startCollectionInformer } from '../collection-informer.ts'
import type { Controller, ControllerName } from '../controller.ts'

/** An object that every namespace has. */
export interface NamespaceObject {
  readonly controller: ControllerName
  readonly resource: ResourceAddress
  wanted(names: Names): ApiObject
  /** What has to be written instead of the one that is there; undefined: it is as it should be. */
  mended(live: ApiObject, wanted: ApiObject): ApiObject | undefined
}

const namespaces: ResourceAddress = { group: '', version: 'v1', plural: 'namespaces', namespaced: false }

/** Makes sure that every namespace that is not going has the object. */
export function namespaceObjectController({ controller, resource, wanted, mended }: NamespaceObject): Controller {
  return {
    name: controller,
    async run(context) {
      const { client, names, queues, clock, random, log, signal } = context
      const object = wanted(names)
      const { name = '' } = object.metadata
      const collection = client.resource(resource)
      const ensure = async (namespace: string): Promise<void> => {
        await Promise.race([Promise.all([spaces.synced, objects.synced]), spaces.done])
        const space = spaces.get(namespace)
        if (signal.aborted || space === undefined || isGoing(space)) return
        const live = objects.get(name, namespace)
        const placed = { ...object, metadata: { ...object.metadata, namespace } }
        if (live === undefined) return unlessSettled(collection.create(placed, { signal }))
        const better = mended(live, placed)
        if (better !== undefined) await collection.update(better, { signal })
      }
      const queue = createWorkqueue({
        name,
        metrics: queues,
        work: ensure,
        onError: (namespace, error) => log.debug({ namespace, err: error }, 'what every namespace has could not be made yet'),
        clock,
        random,
        signal,
        workersMax: 4,
      })
      const spaces = startCollectionInformer(context, {
        resource: namespaces,
        onEvent: ({ object }) => queue.add(object.metadata.name ?? ''),
      })
      const objects = startCollectionInformer(context, {
        resource,
        select: { fieldSelector: `metadata.name=${name}` },
        onEvent: ({ object: { metadata } }) => queue.add(metadata.namespace ?? ''),
      })
      await Promise.all([spaces.done, objects.done])
      await queue.close()
    },
  }
}

function isGoing(namespace: ApiObject): boolean {
  const { metadata, status } = requireType('core/v1.Namespace', namespace)
  return metadata.deletionTimestamp != null || status.phase === 'Terminating'
}

/** It is there already, or its namespace has gone meanwhile: then there is nothing to do. */
async function unlessSettled(creation: Promise<unknown>): Promise<void> {
  try {
    await creation
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    const isTerminating = error.status.details?.causes?.some(({ reason }) => reason === 'NamespaceTerminating') === true
    if (error.reason !== 'AlreadyExists' && error.reason !== 'NotFound' && !isTerminating) throw error
  }
}
