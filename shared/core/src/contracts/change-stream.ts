import { int64, many, message, nested, type Static, string, variants } from './message.ts'
import { change } from './storage.ts'

/**
 * A message of the change stream, in order of revision, from the publisher to all watch services. A reader at a
 * revision accepts a message that continues there: the first change's `previous`, or a position's `last`, must
 * not be above that revision. Otherwise a change is missing, and the reader asks storage.
 *
 *   at 7:   changes 9 (previous 7) → 9      position 12, last 9 → 12      changes 15 (previous 14) → 14 is missing
 */
export const changeMessage = variants({
  /**
   * Does not contain the content before an update; a reader that needs it either has it or asks storage. `publishedMs` is the
   * time of sending, only for metrics.
   */
  changes: message({ epoch: string(1), changes: many(nested(2, change)), publishedMs: int64(3) }),
  /** A change whose content is too large for a message, or must be hidden from the carrier; readers ask storage for it. */
  reference: message({ epoch: string(1), revision: int64(2), previous: int64(3), key: string(4) }),
  /** Everything up to `revision` has been published, and `last` is its last change. Also sent when nothing changes. */
  position: message({ epoch: string(1), revision: int64(2), last: int64(3) }),
})
export type ChangeMessage = Static<typeof changeMessage>

/** The position of a reader after a message. */
export function revisionOfMessage(message: ChangeMessage): number {
  return message.kind === 'changes' ? (message.changes.at(-1)?.revision ?? 0) : message.revision
}
