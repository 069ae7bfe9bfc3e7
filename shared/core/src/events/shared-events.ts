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
