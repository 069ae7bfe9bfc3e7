import { int64, many, message, nested, type Static, string, variants } from './message.ts'
import { change } from './storage.ts'

/**
 * A message of the change stream, in order of revision, from the publisher to all watches. A reader at a
 * revision may accept a message without a gap between: when the first change's `previous`, or a position's `last`, is
 * not above it. Else a change is missing, and storage is asked.
 *
 *   at 7:   changes 9 (previous 7) → 9      position 12, last 9 → 12      changes 15 (previous 14) → 14 is missing
 */
export const changeMessage = variants({
  /**
   * Without the content before an update: a reader that needs it has it, or asks storage. `publishedMs` is the publisher's
   * time of sending, for metrics alone.
   */
  changes: message({ epoch: string(1), changes: many(nested(2, change)), publishedMs: int64(3) }),
  /** One change that is too large for a message, or may not be seen by the carrier: storage is asked for it. */
  reference: message({ epoch: string(1), revision: int64(2), previous: int64(3), key: string(4) }),
  /** Everything up to `revision` has been published; `last` is the last change of it. Also when nothing changes. */
  position: message({ epoch: string(1), revision: int64(2), last: int64(3) }),
})
export type ChangeMessage = Static<typeof changeMessage>

/** The position of a reader that has taken in a message. */
export function revisionOfMessage(message: ChangeMessage): number {
  switch (message.kind) {
    case 'changes':
      return message.changes.at(-1)?.revision ?? 0
    case 'reference':
    case 'position':
      return message.revision
  }
}
