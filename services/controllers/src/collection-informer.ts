import {
  type Informer,
  type InformerEvent,
  type ResourceAddress,
  type ResourceClient,
  type SelectOptions,
  startInformer,
  type WatchEvent,
} from '@orch/client'
import type { ApiObject } from '@orch/core/meta'
import type { Names } from '@orch/core/names'
import { sleep } from '@orch/platform'
import type { ControllerContext } from './controller.ts'
import { metadataListMediaType, metadataMediaType } from './metadata-media-type.ts'

/** What is watched, and the listener for its events. */
export interface Collection<T extends ApiObject> {
  readonly resource: ResourceAddress
  readonly select?: Omit<SelectOptions, 'signal'>
  readonly onEvent: (event: InformerEvent<T>) => void
  /** Where it is not the controller's own end. */
  readonly signal?: AbortSignal
  /** Whether objects are read and kept without what only their kind has. */
  readonly isMetadataOnly?: boolean
  /** What is kept of large objects, which are listed few at a time; absent: all of each. */
  readonly keep?: (object: T) => T
}

/** Of definitions of some 25 KB: some milliseconds. */
const largeObjectsPerPage = 25

/** Keeps a collection in memory with what a controller is given. */
export function startCollectionInformer<T extends ApiObject>(context: ControllerContext, collection: Collection<T>): Informer<T> {
  const { client, names, clock, random, log } = context
  const { resource, select = {}, onEvent, signal = context.signal, isMetadataOnly = false, keep } = collection
  const all = client.resource<T>(resource)
  const whole = keep === undefined ? all : partsOf(all, keep)
  return startInformer<T>({
    resource: isMetadataOnly ? metadataOf(whole, names) : whole,
    select,
    signal,
    sleep: (delayMs, ending) => sleep(clock, delayMs, ending),
    random,
    onEvent,
    onError: (error) => log.debug({ err: error, resource: resource.plural }, 'a collection is listed or watched again'),
  })
}

function metadataOf<T extends ApiObject>(collection: ResourceClient<T>, names: Names): ResourceClient<T> {
  return {
    ...collection,
    listAll: (options) => collection.listAll({ ...options, accept: metadataListMediaType(names) }),
    watch: (options) => collection.watch({ ...options, accept: metadataMediaType(names) }),
  }
}

function partsOf<T extends ApiObject>(collection: ResourceClient<T>, keep: (object: T) => T): ResourceClient<T> {
  return {
    ...collection,
    listAll: (options) => collection.listAll({ ...options, pageSize: largeObjectsPerPage, keep }),
    watch: async (options) => parts(await collection.watch(options), keep),
  }
}

async function* parts<T extends ApiObject>(
  events: AsyncIterable<WatchEvent<T>>,
  keep: (object: T) => T,
): AsyncGenerator<WatchEvent<T>, void> {
  for await (const { type, object } of events) yield { type, object: keep(object) }
}
