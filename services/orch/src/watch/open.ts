import type { StorageService } from '@orch/core/contracts'
import type { Storage } from '@orch/storage'
import { createWatch } from '@orch/watch'
import type { Surroundings } from '../surroundings.ts'
import { convertFrom, tableFrom } from './conversion.ts'

/** What watch asks of storage. */
type WatchSource = Pick<StorageService, 'changes' | 'status' | 'getAt'>

/** The storage of this process, whose commits are answered after their events have left. */
type Announcing = Pick<Storage, 'beforeAnswers'>

/** Watch over the changes that storage tells. `announcing`: the storage is in this process. */
export async function openWatch(
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
    tableOf: tableFrom(catalogue),
  })
  announcing?.beforeAnswers(() => watch.expectChanges())
  await lifecycle.run({ name: 'watch', stop: () => watch.close() })
  return watch
}
