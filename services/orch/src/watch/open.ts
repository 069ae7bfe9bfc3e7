import type { StorageService } from '@orch/core/contracts'
import { createWatch } from '@orch/watch'
import type { Surroundings } from '../surroundings.ts'
import { convertFrom, tableFrom } from './conversion.ts'

/** What watch asks of storage. */
type WatchSource = Pick<StorageService, 'changes' | 'status' | 'getAt'>

/** Watch over the changes that storage tells. */
export async function openWatch({ storage }: { readonly storage: WatchSource }, surroundings: Surroundings) {
  const { catalogue, clock, lifecycle, log, random, tracer } = surroundings
  const watch = createWatch({ storage, clock, log, random, tracer, convertOf: convertFrom(catalogue), tableOf: tableFrom(catalogue) })
  await lifecycle.run({ name: 'watch', stop: () => watch.close() })
  return watch
}
