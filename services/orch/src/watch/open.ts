import { type Catalogue, convert } from '@orch/core/catalogue'
import type { StorageService } from '@orch/core/contracts'
import { decodeJson, printJson } from '@orch/core/json'
import type { ApiObject } from '@orch/core/meta'
import type { Storage } from '@orch/storage'
import { type Convert, createWatch, type Target, unconverted } from '@orch/watch'
import type { Surroundings } from '../surroundings.ts'

/** The part of storage that watch uses. */
type WatchSource = Pick<StorageService, 'changes' | 'status' | 'getAt'>

/** Bytes of changes that watch keeps beside a storage of this process, which has them too: a watch often resumes within seconds. */
const besideStorageBytesMax = 4 * 1024 * 1024

/** The storage of this process, which answers commits after their events are sent. */
type Announcing = Pick<Storage, 'beforeAnswers'>

/** Watch over the changes of storage. `announcing` is set if the storage is in this process. */
export function openWatch(
  { storage, announcing }: { readonly storage: WatchSource; readonly announcing?: Announcing },
  surroundings: Surroundings,
) {
  const { catalogue, chance, clock, lifecycle, log, tracer } = surroundings
  const watch = createWatch({
    storage,
    clock,
    log,
    random: chance.fraction,
    tracer,
    convertOf: convertFrom(catalogue),
    tableOf: ({ group, version, resource }) => catalogue.find(group, version, resource)?.readers.table,
    ...(announcing && { limits: { windowBytesMax: besideStorageBytesMax } }),
  })
  announcing?.beforeAnswers(() => watch.expectChanges())
  return lifecycle.opened('watch', watch)
}

/** The conversion of stored objects to the versions of clients. */
function convertFrom(catalogue: Catalogue): (target: Target) => Convert {
  return ({ group, version, resource: plural }) => {
    const resource = catalogue.find(group, version, plural)
    if (resource === undefined) return unconverted
    const { stored } = resource
    if (stored.group === group && stored.version === version) return unconverted
    return (bytes) => {
      const decoded = decodeJson(bytes)
      if (decoded.kind === 'malformed') throw new Error(`a stored ${resource.kind} is not JSON: ${decoded.message}`)
      const converted = convert(decoded.value as ApiObject, { names: catalogue.names, from: stored, to: resource })
      return Buffer.from(printJson(converted, decoded))
    }
  }
}
