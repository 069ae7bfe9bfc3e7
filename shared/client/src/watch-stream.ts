import { type ApiObject, internal, type Status, StatusError } from '@orch/core/meta'
import { textOf } from './request.ts'
import type { TransportResponse } from './transport.ts'

/** An event of a watch. A bookmark contains only a resourceVersion. */
export interface WatchEvent<T = ApiObject> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK'
  readonly object: T
}

/** The events of a watch answer, one JSON document per line. An event of type ERROR is thrown as a StatusError. */
export async function* readWatch<T>(response: TransportResponse): AsyncGenerator<WatchEvent<T>, void, undefined> {
  for await (const line of readLines(response.body)) {
    // Other watchers in this process may read the same object in this turn of the event loop.
    if (line.length > longLine) await nextTurn()
    const event: WatchEvent<T> | { readonly type: 'ERROR'; readonly object: Status | null } = JSON.parse(line)
    if (event.type === 'ERROR') throw toError(event.object)
    yield event
  }
}

/** Lines longer than this take milliseconds to parse. */
const longLine = 200_000

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

const newline = 0x0a

/** The lines of a body. Text after the last newline is an incomplete event and is dropped. */
async function* readLines(body: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, undefined> {
  let begun: Uint8Array[] = []
  for await (const chunk of body) {
    const end = chunk.lastIndexOf(newline) + 1
    if (end > 0) {
      // In UTF-8, a newline byte is never a part of another character.
      for (const line of textOf([...begun, chunk.subarray(0, end)]).split('\n')) if (line !== '') yield line
      begun = []
    }
    if (end < chunk.length) begun.push(chunk.subarray(end))
  }
}

function toError(status: Status | null): StatusError {
  return status?.kind === 'Status' ? new StatusError(status) : internal('the watch sent an error without a Status')
}
