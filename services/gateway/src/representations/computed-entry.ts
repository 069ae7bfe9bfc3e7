import type { Entry, ListPart } from '@orch/core/contracts'
import { memberSpan } from '@orch/core/json'

/** An object that is not stored, in the form of a stored one. */
export function toEntry(value: Uint8Array, key: string): Entry {
  const { start = 0, end = 0 } = memberSpan(value, 0, 'metadata') ?? {}
  return { key, revision: 0, value, metadataStart: start, metadataEnd: end, writeId: '' }
}

/** Objects in the form of a list from storage. */
export async function* onePart(entries: readonly Entry[]): AsyncGenerator<ListPart> {
  yield { kind: 'entries', entries }
}
