import type { Entry, ListPart } from '@orch/core/contracts'
import { memberSpan } from '@orch/core/json'

/** An object that is stored nowhere, in the form of one that is. */
export function toEntry(value: Uint8Array, key: string): Entry {
  const { start = 0, end = 0 } = memberSpan(value, 0, 'metadata') ?? {}
  return { key, revision: 0, value, metadataStart: start, metadataEnd: end, writeId: '' }
}

/** Objects as a list of storage. */
export async function* onePart(entries: readonly Entry[]): AsyncGenerator<ListPart> {
  yield { kind: 'entries', entries }
}
