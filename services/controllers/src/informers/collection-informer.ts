import {
  type Informer,
  type InformerEvent,
  type ResourceAddress,
  type ResourceClient,
  type SelectOptions,
  startInformer,
} from '@orch/client'
import { shareWith } from '@orch/core/json'
import type { ApiObject } from '@orch/core/meta'
import type { Names } from '@orch/core/names'
import { sleep } from '@orch/platform'
import type { Surroundings } from '../surroundings.ts'
import { metadataListMediaType, metadataMediaType } from './metadata-media-type.ts'

/** A selection of a collection, and the cached form of its objects. */
export interface Selection<T extends ApiObject> {
  readonly resource: ResourceAddress
  readonly select?: Omit<SelectOptions, 'signal'>
  /** True to read and cache only metadata. */
  readonly isMetadataOnly?: boolean
  /** The cached part of large objects, which are listed a few at a time. By default the whole object. */
  keep?(object: T): T
}

/** A selection with the listener for its events. */
interface Collection<T extends ApiObject> extends Selection<T> {
  readonly onEvent: (event: InformerEvent<T>, key: string) => void
  /** Called after the events of each list. */
  readonly onListed?: () => void
  /** Ends the informer; by default the signal of the context. */
  readonly signal?: AbortSignal
}

/** Definitions of about 25 KB take some milliseconds. */
const largeObjectsPerPage = 25

/** Caches a collection. */
export function startCollectionInformer<T extends ApiObject>(context: Surroundings, collection: Collection<T>): Informer<T> {
  const { client, names, clock, random, log } = context
  const { resource, select = {}, onEvent, onListed, signal = context.signal, isMetadataOnly = false, keep } = collection
  const whole = client.resource<T>(resource)
  return startInformer<T>({
    resource: isMetadataOnly ? metadataOf(whole, names) : whole,
    select,
    pageSize: keep && largeObjectsPerPage,
    readsOnly: true,
    keep: (object, like) => shareWith(keep === undefined ? object : keep(object), like),
    signal,
    sleep: (delayMs, ending) => sleep(clock, delayMs, ending),
    random,
    onEvent,
    ...(onListed && { onListed }),
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
