import type { StoreChange } from '@orch/core/contracts'
import type { Revision } from '@orch/core/meta'
import { type Layout, unframeValue } from './layout.ts'
import type { EtcdEvent } from './wire.ts'

/** The events of a watch, sorted by meaning. */
export interface Decoded {
  readonly changes: readonly StoreChange[]
  /** Revision of the last event of all. */
  readonly position: Revision
  /** The epoch's record was written. */
  readonly epoch?: { readonly text: string; readonly revision: Revision } | undefined
  /** The past up to here is being forgotten. */
  readonly compacted?: Revision | undefined
  /** A replica became a candidate, or no longer is one. */
  readonly isElection: boolean
}

/** Reads the events of a watch; `previous` is the revision of the change before the first of them. */
export function decodeEvents(events: readonly EtcdEvent[], layout: Layout, previous: Revision): Decoded {
  const changes: StoreChange[] = []
  let last = previous
  let deletion: { readonly revision: Revision; readonly writeId: string } | undefined
  let epoch: Decoded['epoch']
  let compacted: Revision | undefined
  let isElection = false
  for (const event of events) {
    const { revision, value } = event
    const key = event.key.toString()
    if (key.startsWith(layout.keys)) {
      const writeId = deletion?.revision === revision ? deletion.writeId : ''
      const name = key.slice(layout.keys.length)
      changes.push({ revision, previous: last, key: name, ...contentOf(name, event, writeId) })
      last = revision
    } else if (key === layout.deletion) deletion = { revision, writeId: value.toString() }
    else if (key === layout.epoch) {
      epoch = { text: value.toString(), revision }
      last = revision
    } else if (key === layout.compacted) compacted = Number(value.toString())
    else if (key.startsWith(layout.election)) isElection = true
  }
  return { changes, position: events.at(-1)?.revision ?? 0, epoch, compacted, isElection }
}

function contentOf(
  key: string,
  { isDelete, value, replaces }: EtcdEvent,
  deletedBy: string,
): Pick<StoreChange, 'writeId' | 'value' | 'replaces'> {
  return isDelete ? { writeId: deletedBy, replaces } : { ...unframeValue(key, value), replaces }
}
