import type { Profile } from '../names.ts'
import type { IncludeObject, TableVersion } from '../table/index.ts'
import { contract, type Service, stream } from './contract.ts'
import {
  bool,
  bytes,
  double,
  int64,
  json,
  local,
  many,
  message,
  nested,
  optional,
  type Static,
  string,
  union,
  variants,
} from './message.ts'
import { scopeMessage, selectionMessage } from './storage.ts'

/** The format of events for the client. It contains everything needed to write an event. */
const watchFormat = variants({
  /** `{"type":…,"object":…}` and a newline. */
  json: message({}),
  /** Length-delimited Protobuf. `type` is the type for encoding the object. */
  protobuf: message({ apiVersion: string(1), objectKind: string(2), type: string(3) }),
  /**
   * Like `json`, with each object as a Table of one row and without column definitions, which the sender of a client's first event
   * adds. `objectKind` is the stored kind; `version` and `include` are those of the Table.
   */
  table: message({ profile: json<Profile>(1), objectKind: string(2), version: json<TableVersion>(3), include: json<IncludeObject>(4) }),
  /** Only the object's metadata, in JSON or Protobuf. */
  metadata: message({ profile: json<Profile>(1), version: json<TableVersion>(2), isProtobuf: bool(3) }),
})
export type WatchFormat = Static<typeof watchFormat>

const subscribeRequest = message({
  scope: nested(1, scopeMessage),
  selection: nested(2, selectionMessage),
  /** The requested group, version and plural; events are converted to that version. */
  group: string(3),
  version: string(4),
  resource: string(5),
  format: union(6, watchFormat),
  /** Only changes after this revision. */
  after: int64(7),
  /** The epoch of `after`, or ''. */
  epoch: string(8),
  /** For format `json`: events about objects written under another schema fingerprint are listed in `older`. */
  fingerprint: optional(int64(9)),
})
export type SubscribeRequest = Static<typeof subscribeRequest>

/** Metadata for metrics and traces of events that are sent as they happen. */
const eventsOrigin = message({
  /** The time when the first change was committed, by the clock of storage. */
  committedMs: double(1),
  /** W3C `traceparent`s of the traced changes. */
  traceparents: many(string(2)),
})
export type EventsOrigin = Static<typeof eventsOrigin>

/** An event without its text. */
export interface EventValue {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  /** The object's key in storage. */
  readonly key: string
  readonly revision: number
  /** The object in the requested version. */
  readonly json: Uint8Array
}

/** The events of a piece. */
export interface EventValues {
  readonly list: readonly EventValue[]
  /** The number of bytes of their texts. */
  readonly bytes: number
}

const watchPart = variants({
  /** Whole encoded events in order of revision; `last` is the revision of the last one. */
  events: message({
    frames: bytes(1),
    count: int64(2),
    last: int64(3),
    origin: optional(nested(4, eventsOrigin)),
    /** Ascending indexes of the events whose objects have another fingerprint than the subscription. */
    older: optional(json<readonly number[]>(5)),
    /** The same events, of format `json`. In the process of watch `frames` are joined when they are first read. */
    values: local<EventValues>(),
  }),
  /** Everything up to this revision has been sent. Sent at most a second after the revision. */
  position: message({ revision: int64(1) }),
  /** The requested revision is no longer available: `too old resource version: asked (oldest)`. The stream ends. */
  expired: message({ asked: int64(1), oldest: int64(2) }),
  /** The store was replaced or reset: the client must list again. The stream ends. */
  replaced: message({}),
})
export type WatchPart = Static<typeof watchPart>
/** A piece of events. */
export type EventsPart = Extract<WatchPart, { readonly kind: 'events' }>

/** The number of bytes of a piece, without joining them. */
export function sizeOfEvents(part: EventsPart): number {
  return part.values === undefined ? part.frames.length : part.values.bytes
}

/**
 * Watch: events about changes.
 * 1. Every change of the selection after the asked revision is delivered exactly once, in order of revision.
 * 2. An object that enters the selection is ADDED, one that leaves it DELETED with its last matching content.
 * 3. An event is encoded once per (version, format); all subscribers get the same bytes.
 */
export const watchContract = contract(
  'orch.watch.v1.Watch',
  { subscribe: stream(subscribeRequest, watchPart, { callers: ['gateway'], idempotent: true, endless: true }) },
  'watch',
  // A storage service may also host watch, since all changes come from there.
  'storage',
)
export type WatchService = Service<typeof watchContract>
