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
  const lines = new Lines()
  for await (const chunk of response.body) {
    for (const line of lines.take(chunk)) {
      if (line === '') continue
      // Other watchers in this process may read the same object in this turn of the event loop.
      if (line.length > longLine) await new Promise((resolve) => setImmediate(resolve))
      const event: WatchEvent<T> | { readonly type: 'ERROR'; readonly object: Status | null } = JSON.parse(line)
      if (event.type === 'ERROR') throw toError(event.object)
      yield event
    }
  }
}

/** Lines longer than this take milliseconds to parse. */
const longLine = 200_000

const newline = 0x0a

/** Cuts a body into lines. Text after the last newline is an incomplete event and is dropped. */
class Lines {
  #begun: Uint8Array[] = []

  /** The lines that end in this piece; empty lines included. */
  take(chunk: Uint8Array): string[] {
    // In UTF-8, a newline byte is never a part of another character.
    const end = chunk.lastIndexOf(newline) + 1
    const text = end === 0 ? '' : textOf([...this.#begun, chunk.subarray(0, end)])
    if (end > 0) this.#begun = []
    if (end < chunk.length) this.#begun.push(chunk.subarray(end))
    return text.split('\n')
  }
}

function toError(status: Status | null): StatusError {
  return status?.kind === 'Status' ? new StatusError(status) : internal('the watch sent an error without a Status')
}
