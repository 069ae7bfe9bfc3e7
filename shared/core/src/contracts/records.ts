/** Records of past requests and changes, for API answers and console pages. */

/** A finished request, or a watch that has begun. */
export interface LoggedRequest {
  /** Number of the request since the start, from 1. */
  readonly id: number
  /** Arrival, in milliseconds since 1970. */
  readonly time: number
  /** Undefined while a watch is open. */
  readonly durationMs?: number
  readonly user: string
  /** The header `User-Agent`; '' without one. */
  readonly agent: string
  readonly verb: string
  /** The path without the server's prefix and the query. */
  readonly path: string
  /** '' for the core group and for non-resource paths. */
  readonly group: string
  /** The plural; '' for non-resource paths. */
  readonly resource: string
  readonly subresource: string
  readonly namespace: string
  /** The name of the object. For a create, the name of the created object, if any. */
  readonly name: string
  /** The status code; 0 if the connection ended before an answer. */
  readonly code: number
  /** The revision of the read or written object, or of the list; undefined if there is none. */
  readonly revision?: number
  /** True if the request changed an object. */
  readonly changed: boolean
  /** True for an accepted write without a change. */
  readonly noop: boolean
  /** `server` if a part of the server sent the request, `console` if a page of the console did. */
  readonly from?: 'server' | 'console'
  /** The name of the fault that affected the request. */
  readonly fault?: string
  /** The number of the watch, from 1. */
  readonly watch?: number
}

/** A change of an object. */
export interface TimelineEntry {
  readonly revision: number
  /** RFC 3339 with milliseconds; undefined if the store does not record times. */
  readonly time?: string
  readonly event: 'created' | 'modified' | 'deleted'
  readonly apiVersion: string
  readonly kind: string
  /** The plural. */
  readonly resource: string
  /** Undefined for cluster-scoped objects. */
  readonly namespace?: string
  readonly name: string
  readonly uid: string
  /** The field managers that made the change, as far as managedFields show; empty for a delete. */
  readonly managers: readonly string[]
  /** Undefined if the server itself made the change, or the store does not record users. */
  readonly user?: string
  /** The audit ID of the request; undefined in the same cases as `user`. */
  readonly request?: string
  /** Paths of the innermost changed members, at most 100; empty for a create or delete. */
  readonly changed: readonly string[]
}

/** A step of admission in the explanation of a request. */
export interface ExplainedStep {
  readonly phase: string
  readonly plugin: string
  readonly webhook?: string
  readonly round?: number
  readonly durationMs: number
  readonly patch?: readonly unknown[]
  readonly reason?: string
  readonly rejected?: true
}
