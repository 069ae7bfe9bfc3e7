import type { Revision, StoreChange } from '@orch/core'
import type { IEvent } from 'etcd3'
import { type Layout, unframeValue } from './layout.ts'

/** The events of a watch, sorted by what they mean. */
export interface Decoded {
  readonly changes: readonly StoreChange[]
  /** Revision of the last event of all. */
  readonly position: Revision
  /** The epoch's record was written. */
  readonly epoch?: { readonly text: string; readonly revision: Revision } | undefined
  /** The past up to here is being forgotten. */
  readonly compacted?: Revision | undefined
  /** Somebody became a candidate, or no longer is one. */
  readonly isElection: boolean
}

/** Reads the events of a watch; `previous` is the revision of the change before the first of them. */
export function decodeEvents(events: readonly IEvent[], layout: Layout, previous: Revision): Decoded {
  const changes: StoreChange[] = []
  let last = previous
  let deletion: { readonly revision: Revision; readonly writeId: string } | undefined
  let epoch: Decoded['epoch']
  let compacted: Revision | undefined
  let isElection = false
  for (const event of events) {
    const key = event.kv.key.toString()
    const revision = Number(event.kv.mod_revision)
    if (key.startsWith(layout.keys)) {
      const writeId = deletion?.revision === revision ? deletion.writeId : ''
      changes.push({ revision, previous: last, key: key.slice(layout.keys.length), ...contentOf(event, writeId) })
      last = revision
    } else if (key === layout.deletion) deletion = { revision, writeId: event.kv.value.toString() }
    else if (key === layout.epoch) {
      epoch = { text: event.kv.value.toString(), revision }
      last = revision
    } else if (key === layout.compacted) compacted = Number(event.kv.value.toString())
    else if (key.startsWith(layout.election)) isElection = true
  }
  return { changes, position: Number(events.at(-1)?.kv.mod_revision ?? 0), epoch, compacted, isElection }
}

function contentOf({ type, kv, prev_kv: before }: IEvent, deletedBy: string): Pick<StoreChange, 'writeId' | 'value' | 'replaces'> {
  const replaces = before === null || before === undefined ? 0 : Number(before.mod_revision)
  if (type === 'Delete') return { writeId: deletedBy, replaces }
  return { ...unframeValue(kv.value), replaces }
}
