import type { EventValue } from '../contracts/watch.ts'
import type { ApiObject } from '../meta/object-meta.ts'

/** Events for a reader in the process of the server, which get no text. */
export interface SharedEvents {
  readonly list: readonly EventValue[]
  /** The number of bytes that their text would have. */
  readonly length: number
  /** The object of an event, which the server may hold too: it must not be changed. */
  objectOf(event: EventValue): ApiObject
}

/** A request to the server. */
export interface TransportRequest {
  readonly method: string
  /** The path with the query: `/api/v1/pods?limit=5`. */
  readonly path: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Uint8Array | string | undefined
  /** The parsed body, for a transport with `takesValues`. */
  readonly value?: unknown
  readonly signal?: AbortSignal | undefined
  /** True to take the events of a watch without their text, from a server in this process. */
  readonly takesEvents?: boolean | undefined
}

/** A response. The body must be read to its end or ended by `return`; otherwise its connection stays in use. */
export interface TransportResponse {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: AsyncIterable<Uint8Array>
  /** The bytes of the body if all are present; `body` then need not be read. */
  readonly whole?: Uint8Array | undefined
  /** The body of an answer with events without their text, to be read in place of `body`. */
  readonly pieces?: AsyncIterable<Uint8Array | SharedEvents> | undefined
  /** The parsed body, frozen, if a server in this process has it. */
  readonly value?: ReturnType<typeof JSON.parse>
}
