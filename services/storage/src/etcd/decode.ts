import type { StoreChange } from '@orch/core/contracts'
import type { Revision } from '@orch/core/meta'
import { isAltered } from '@orch/core/stored'
import { type Layout, unframeDeletion, unframeValue } from './layout.ts'
import type { EtcdEvent } from './wire.ts'

/** The events of a watch, sorted by meaning. */
export interface Decoded {
  readonly changes: readonly StoreChange[]
  /** Changes whose value or write id was altered. */
  readonly altered: readonly StoreChange[]
  /** The revision of the last event of any kind. */
  readonly position: Revision
  /** The epoch's record was written. */
  readonly epoch?: { readonly text: string; readonly revision: Revision } | undefined
  /** Changes up to this revision are being compacted. */
  readonly compacted?: Revision | undefined
  /** A replica became a candidate, or resigned. */
  readonly isElection: boolean
}

/** Decodes the events of a watch; `previous` is the revision of the preceding change. */
export function decodeEvents(events: readonly EtcdEvent[], layout: Layout, previous: Revision): Decoded {
  const changes: StoreChange[] = []
  const altered: StoreChange[] = []
  let last = previous
  let deletion: EtcdEvent | undefined
  let epoch: Decoded['epoch']
  let compacted: Revision | undefined
  let isElection = false
  for (const event of events) {
    const { revision, value } = event
    const key = event.key.toString()
    if (key.startsWith(layout.keys)) {
      const name = key.slice(layout.keys.length)
      const { isAltered: isDamaged, ...content } = contentOf(name, event, deletion?.revision === revision ? deletion.value : noId)
      const change = { revision, previous: last, key: name, replaces: event.replaces, ...content }
      changes.push(change)
      if (isDamaged) altered.push(change)
      last = revision
    } else if (key === layout.deletion) deletion = event
    else if (key === layout.epoch) {
      epoch = { text: value.toString(), revision }
      last = revision
    } else if (key === layout.compacted) compacted = Number(value.toString())
    else if (key.startsWith(layout.election)) isElection = true
  }
  return { changes, altered, position: events.at(-1)?.revision ?? 0, epoch, compacted, isElection }
}

const noId = Buffer.alloc(0)

function contentOf(key: string, { isDelete, value }: EtcdEvent, deletedBy: Buffer) {
  if (isDelete) return unframeDeletion(key, deletedBy)
  const content = unframeValue(key, value)
  return { ...content, isAltered: isAltered(content.value) }
}
