import { memberSpan, memberStart } from '@orch/core/json'
import { type ApiObject, internal, type Status, StatusError } from '@orch/core/meta'
import type { TransportResponse } from './transport.ts'

/** An event of a watch. A bookmark contains only a resourceVersion. */
export interface WatchEvent<T = ApiObject> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK'
  readonly object: T
}

interface ReadOptions {
  /** True to drop `metadata.managedFields` before they are parsed. */
  readonly omitsManagers?: boolean | undefined
}

/**
 * The events of a watch answer: one JSON document per line, or events without their text, whose objects the server in this process may hold too. An event
 * of type ERROR is thrown as a StatusError.
 */
export async function* readWatch<T>(
  response: TransportResponse,
  { omitsManagers = false }: ReadOptions = {},
): AsyncGenerator<WatchEvent<T>, void, undefined> {
  const lines = new Lines()
  for await (const piece of response.pieces ?? response.body) {
    if ('list' in piece) {
      for (const event of piece.list) {
        if (event.json.length > longLine) await nextTurn()
        yield { type: event.type, object: piece.objectOf(event) as T }
      }
      continue
    }
    for (const line of lines.take(piece)) {
      // Other watchers in this process may read the same object in this turn of the event loop.
      if (line.length > longLine) await nextTurn()
      const text = omitsManagers ? withoutManagers(line) : line.toString()
      const event: WatchEvent<T> | { readonly type: 'ERROR'; readonly object: Status | null } = JSON.parse(text)
      if (event.type === 'ERROR') throw toError(event.object)
      yield event
    }
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** Lines longer than this take milliseconds to parse. */
const longLine = 200_000

const newline = 0x0a

/** Cuts a body into lines. Bytes after the last newline are an incomplete event and are dropped. */
export class Lines {
  #begun: Uint8Array[] = []

  /** The lines that end in this piece, without empty ones. They are views of the piece. */
  take(chunk: Uint8Array): Buffer[] {
    // In UTF-8, a newline byte is never a part of another character.
    const last = chunk.lastIndexOf(newline) + 1
    const ended = last === 0 ? [] : linesIn(bytesOf([...this.#begun, chunk.subarray(0, last)]))
    if (last > 0) this.#begun = []
    if (last < chunk.length) this.#begun.push(chunk.subarray(last))
    return ended
  }
}

function bytesOf(pieces: readonly Uint8Array[]): Buffer {
  const [first] = pieces
  return pieces.length === 1 && first !== undefined ? Buffer.from(first.buffer, first.byteOffset, first.length) : Buffer.concat(pieces)
}

function linesIn(bytes: Buffer): Buffer[] {
  const lines: Buffer[] = []
  let start = 0
  for (let end = bytes.indexOf(newline); end >= 0; end = bytes.indexOf(newline, start)) {
    if (end > start) lines.push(bytes.subarray(start, end))
    start = end + 1
  }
  return lines
}

const opening = ',"managedFields":'

/** The text of an event without the managedFields of its object, which take as long to parse as the rest. They stay if they are the first member, or if spaces surround their name. */
export function withoutManagers(line: Buffer): string {
  const object = memberStart(line, 0, 'object')
  const metadata = object === undefined ? undefined : memberStart(line, object, 'metadata')
  const managers = metadata === undefined ? undefined : memberSpan(line, metadata, 'managedFields')
  if (managers === undefined) return line.toString()
  const begin = managers.start - opening.length
  if (line.toString('latin1', begin, managers.start) !== opening) return line.toString()
  return line.toString('utf8', 0, begin) + line.toString('utf8', managers.end)
}

function toError(status: Status | null): StatusError {
  return status?.kind === 'Status' ? new StatusError(status) : internal('the watch sent an error without a Status')
}
