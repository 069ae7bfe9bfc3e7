import type { Profile } from '../names.ts'
import type { IncludeObject } from '../table/include-object.ts'
import type { TableVersion } from '../table/print.ts'
import { contract, type Service, stream } from './contract.ts'
import { bool, bytes, double, int64, json, many, message, nested, optional, type Static, string, union, variants } from './message.ts'
import { scopeMessage, selectionMessage } from './storage.ts'

/** The format of events on the client's stream. It holds everything that writing an event takes. */
const watchFormat = variants({
  /** `{"type":…,"object":…}` and a newline. */
  json: message({}),
  /** Length-delimited Protobuf. `type` is the type that the object is read as. */
  protobuf: message({ apiVersion: string(1), objectKind: string(2), type: string(3) }),
  /**
   * As `json`, each object a Table with one row and without column definitions: the sender of a client's first event adds
   * them. `objectKind` is the stored one, `version` and `include` are those of the Table.
   */
  table: message({ profile: json<Profile>(1), objectKind: string(2), version: json<TableVersion>(3), include: json<IncludeObject>(4) }),
  /** The object's metadata alone, in JSON or Protobuf as above. */
  metadata: message({ profile: json<Profile>(1), version: json<TableVersion>(2), isProtobuf: bool(3) }),
})
export type WatchFormat = Static<typeof watchFormat>

const subscribeRequest = message({
  scope: nested(1, scopeMessage),
  selection: nested(2, selectionMessage),
  /** Group, version and plural that the client asked for: events are converted to it. */
  group: string(3),
  version: string(4),
  resource: string(5),
  format: union(6, watchFormat),
  /** Only changes after this revision. */
  after: int64(7),
  /** '' or the epoch that `after` belongs to. */
  epoch: string(8),
  /** Format `json`: events about objects that were written under a schema of another fingerprint are listed in `older`. */
  fingerprint: optional(int64(9)),
})
export type SubscribeRequest = Static<typeof subscribeRequest>

/** The origin of events that were handed out as they happened, for metrics and traces. */
const eventsOrigin = message({
  /** Time of the commit of the first change, by the clock of storage. */
  committedMs: double(1),
  /** W3C `traceparent`s of those changes that belong to traces. */
  traceparents: many(string(2)),
})
export type EventsOrigin = Static<typeof eventsOrigin>

const watchPart = variants({
  /** Whole frames, ready to be written, in order of revision; `last` is the revision of the last of them. */
  events: message({
    frames: bytes(1),
    count: int64(2),
    last: int64(3),
    origin: optional(nested(4, eventsOrigin)),
    /** Indexes of the events whose objects are of another fingerprint than the subscription wants, ascending. */
    older: optional(json<readonly number[]>(5)),
  }),
  /** Everything up to this revision has been sent. At least once a second. */
  position: message({ revision: int64(1) }),
  /** The asked revision is no longer held: `too old resource version: asked (oldest)`. The stream ends. */
  expired: message({ asked: int64(1), oldest: int64(2) }),
  /** The store was replaced or reset: the client must list again. The stream ends. */
  replaced: message({}),
})
export type WatchPart = Static<typeof watchPart>

/**
 * Watch: the events.
 * 1. Every change of the selection after the asked revision is delivered exactly once, in order of revision.
 * 2. An object that enters the selection is ADDED, one that leaves it DELETED with its last matching content.
 * 3. An event is encoded once per (version, format); all subscribers get the same bytes.
 */
export const watchContract = contract(
  'orch.watch.v1.Watch',
  { subscribe: stream(subscribeRequest, watchPart, { callers: ['gateway'], idempotent: true, endless: true }) },
  'watch',
  // A storage may host watch: it is the source of all changes.
  'storage',
)
export type WatchService = Service<typeof watchContract>
