/** Records of past requests and changes, as answers have them and pages show them. */

/** A request that was answered, or a watch that has begun. */
export interface LoggedRequest {
  /** Its number since the start, from 1. */
  readonly id: number
  /** Arrival, in milliseconds since 1970. */
  readonly time: number
  /** Absent: the watch is still open. */
  readonly durationMs?: number
  readonly user: string
  /** The header `User-Agent`; '' without one. */
  readonly agent: string
  readonly verb: string
  /** The path, without the prefix of the server and without query. */
  readonly path: string
  /** '' for the core group, and for other paths. */
  readonly group: string
  /** Plural; '' for a path that is not one of a resource. */
  readonly resource: string
  readonly subresource: string
  readonly namespace: string
  /** The name of the object. A create has one if it has written an object. */
  readonly name: string
  /** 0: the client left, or was cut off, before an answer. */
  readonly code: number
  /** The revision of the written or read object, or of the list. Absent: none was written or read. */
  readonly revision?: number
  /** Something was written. */
  readonly changed: boolean
  /** A write that was accepted and changed nothing. */
  readonly noop: boolean
  /** `server`: a part of the server itself has sent it; `console`: a page of the console. */
  readonly from?: 'server' | 'console'
  /** Name of the fault that hit it. */
  readonly fault?: string
  /** Number of the watch, from 1. */
  readonly watch?: number
}

/** A change of an object. */
export interface TimelineEntry {
  readonly revision: number
  /** As in RFC 3339, with milliseconds; absent: the store does not note times. */
  readonly time?: string
  readonly event: 'created' | 'modified' | 'deleted'
  readonly apiVersion: string
  readonly kind: string
  /** Plural. */
  readonly resource: string
  /** Absent: the kind has no namespaces. */
  readonly namespace?: string
  readonly name: string
  readonly uid: string
  /** The field managers that have made the change, as far as the entries of the object tell; of a deleted object none. */
  readonly managers: readonly string[]
  /** Absent: the server itself made the change, or the store does not note users. */
  readonly user?: string
  /** The audit ID of the request. Absent as `user`. */
  readonly request?: string
  /** Paths of the innermost members that differ, 100 at most; of created and deleted objects none. */
  readonly changed: readonly string[]
}
