import { type Informer, type InformerEvent, type ResourceAddress, type SelectOptions, startInformer } from '@orch/client'
import type { ApiObject } from '@orch/core/meta'
import { sleep } from '@orch/platform'
import type { ControllerContext } from './controller.ts'

/** What is watched, and the listener for its events. */
export interface Collection<T extends ApiObject> {
  readonly resource: ResourceAddress
  readonly select?: Omit<SelectOptions, 'signal'>
  readonly onEvent: (event: InformerEvent<T>) => void
  /** Where it is not the controller's own end. */
  readonly signal?: AbortSignal
}

/** Keeps a collection in memory with what a controller is given. */
export function startCollectionInformer<T extends ApiObject>(context: ControllerContext, collection: Collection<T>): Informer<T> {
  const { client, clock, random, log } = context
  const { resource, select = {}, onEvent, signal = context.signal } = collection
  return startInformer<T>({
    resource: client.resource<T>(resource),
    select,
    signal,
    sleep: (delayMs, ending) => sleep(clock, delayMs, ending),
    random,
    onEvent,
    onError: (error) => log.debug({ err: error, resource: resource.plural }, 'a collection is listed or watched again'),
  })
}
