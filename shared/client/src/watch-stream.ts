import { type ApiObject, internal, type Status, StatusError } from '@orch/core/meta'
import type { TransportResponse } from './transport.ts'

/** One thing that happened. A bookmark carries nothing but a resourceVersion. */
export interface WatchEvent<T = ApiObject> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK'
  readonly object: T
}

/** The events of a watch answer, one JSON document per line. An event of type ERROR is thrown as a StatusError. */
export async function* readWatch<T>(response: TransportResponse): AsyncGenerator<WatchEvent<T>, void, undefined> {
  for await (const line of readLines(response.body)) {
    // Others in this process may read the same object in this turn.
    if (line.length > longLine) await nextTurn()
    const event: WatchEvent<T> | { readonly type: 'ERROR'; readonly object: Status | null } = JSON.parse(line)
    if (event.type === 'ERROR') throw toError(event.object)
    yield event
  }
}

/** Characters that take milliseconds to read. */
const longLine = 200_000

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** Text between newlines; the rest after the last newline is an interrupted event and dropped. */
async function* readLines(body: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) if (line !== '') yield line
  }
}

function toError(status: Status | null): StatusError {
  return status?.kind === 'Status' ? new StatusError(status) : internal('the watch sent an error without a Status')
}
