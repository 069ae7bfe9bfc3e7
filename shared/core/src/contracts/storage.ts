import type { FieldRequirement, LabelRequirement, ShardRange } from '../selectors/selection.ts'
import { contract, type Service, type ServiceRole, stream, unary } from './contract.ts'
import {
  bool,
  bytes,
  double,
  int64,
  json,
  many,
  message,
  nested,
  optional,
  type Static,
  string,
  stringMap,
  union,
  variants,
} from './message.ts'

/** The required freshness of a read. */
const freshness = variants({
  /** At least as new as the store when asked. While memory is being filled, the answer is 429, also for the variants below. */
  latest: message({}),
  /** The current state in memory. While memory is being filled, the read waits, unless it begins a watch: then it is refused. */
  any: message({ beginsWatch: optional(bool(1)) }),
  /** Waits up to 3 s for the revision, then answers 504. `asked` is the client's text, for the message. */
  notOlderThan: message({ revision: int64(1), asked: string(2) }),
  /**
   * The state at exactly this revision. A compacted revision is 410; a future one waits as above, then 504. With `isPast`, a future one is
   * 400 at once, and revisions from before a restore are also read, as long as the store has them.
   */
  exact: message({ revision: int64(1), asked: string(2), isPast: optional(bool(3)) }),
  /** Like `exact`, for a further page of a list. A revision of another epoch is 410. */
  page: message({ revision: int64(1), epoch: string(2) }),
})
export type Freshness = Static<typeof freshness>

export const scopeMessage = message({ resource: string(1), namespace: optional(string(2)), name: optional(string(3)) })

export const selectionMessage = message({
  labels: json<readonly LabelRequirement[]>(1),
  fields: json<readonly FieldRequirement[]>(2),
  shards: optional(json<readonly ShardRange[]>(3)),
})

/** An object in its served form: complete JSON in the storage version, including resourceVersion. */
const entry = message({
  key: string(1),
  revision: int64(2),
  value: bytes(3),
  /** The position of `metadata`'s value (the braces included) in `value`. */
  metadataStart: int64(4),
  metadataEnd: int64(5),
  /** The random id of the write that created this version, which tells a lost answer from a lost write. */
  writeId: string(6),
  /** The fingerprint of the schema under which it was written. */
  fingerprint: optional(int64(7)),
})
export type Entry = Static<typeof entry>

const getRequest = message({ key: string(1), read: union(2, freshness) })
/** The answer reflects the state at `revision`. */
const getResponse = message({
  entry: optional(nested(1, entry)),
  revision: int64(2),
  epoch: string(3),
  /** True if rewriting the object would encrypt it with another key. Default: false. */
  isStale: optional(bool(4)),
})

const listRequest = message({
  scope: nested(1, scopeMessage),
  selection: nested(2, selectionMessage),
  read: union(3, freshness),
  /** 0 for no limit. */
  limit: int64(4),
  /** The first key to read, relative to the scope's prefix; '' for the beginning. */
  start: string(5),
  /** `joined` sends the bytes between the brackets of `items`; `entries` sends single objects. */
  layout: string(6),
  /** For layout `joined`: objects with another schema fingerprint are sent as `entries`, together with neighbours. */
  fingerprint: optional(int64(7)),
})

const listPart = variants({
  /** Always the first part, and sent once. */
  head: message({
    revision: int64(1),
    epoch: string(2),
    /** The start of the next page, relative to the scope's prefix; undefined after the last page. */
    next: optional(string(3)),
    /** The number of objects after this page; undefined with a selector or after the last page. */
    remaining: optional(int64(4)),
  }),
  /** In layout `joined`: whole objects with the wanted fingerprint, separated by commas within a chunk. */
  chunk: message({ bytes: bytes(1), count: int64(2) }),
  /** All objects in layout `entries`; in layout `joined`, only objects with another fingerprint. */
  entries: message({ entries: many(nested(1, entry)) }),
})
export type ListPart = Static<typeof listPart>

/**
 * True if these objects are sent as joined bytes: the caller requests that, and no object was written under another schema, which
 * would require conversion.
 */
export function leavesJoined(
  { layout, fingerprint }: { readonly layout: string; readonly fingerprint?: number | undefined },
  objects: readonly { readonly fingerprint?: number | undefined }[],
  from = 0,
  to = objects.length,
): boolean {
  if (layout !== 'joined' || fingerprint === undefined) return layout === 'joined'
  for (let index = from; index < to; index++) if (objects[index]?.fingerprint !== fingerprint) return false
  return true
}

/** Another key must have this revision; 0 means that it must be absent. */
export const condition = message({ key: string(1), revision: int64(2) })

const commitRequest = message({
  key: string(1),
  /** The revision of the key that the writer has seen; 0 if it must be absent. */
  expected: int64(2),
  /** At most four conditions. */
  conditions: many(nested(3, condition)),
  /** A stored value (see `stored/`); undefined for a delete. */
  value: optional(bytes(4)),
  writeId: string(5),
  /** Deletes an unreadable object at any revision. A readable object makes the commit stale. */
  removesUnreadable: optional(bool(6)),
  /** The name of the requesting user, for the history. */
  user: optional(string(7)),
})
export type CommitRequest = Static<typeof commitRequest>

const commitOutcome = variants({
  /** The write is durable and visible to every later read. */
  written: message({ revision: int64(1) }),
  /** Another write came first. Without `current` the object was deleted. */
  stale: message({ current: optional(nested(1, entry)) }),
  /** The condition with this index does not hold. */
  unmet: message({ index: int64(1) }),
})
export type CommitOutcome = Static<typeof commitOutcome>

const changesRequest = message({
  /** Only changes after this revision. If it is compacted, the stream begins with `expired`. */
  after: int64(1),
  /** The epoch of `after`, or ''. With another epoch, the stream begins with `expired`. */
  epoch: string(2),
  /** Storage prefixes of resources; empty for all. */
  resources: many(string(3)),
})

/** The facts of an object that selectors read. */
const facts = message({ labels: stringMap(1), fields: stringMap(2) })
export type Facts = Static<typeof facts>

export const change = message({
  revision: int64(1),
  /** The revision of the previous change in the whole store. */
  previous: int64(2),
  key: string(3),
  /** Undefined for a delete. */
  after: optional(
    nested(
      4,
      message({
        value: bytes(1),
        metadataStart: int64(2),
        metadataEnd: int64(3),
        facts: nested(4, facts),
        /** The fingerprint of the schema under which it was written. */
        fingerprint: optional(int64(5)),
      }),
    ),
  ),
  /** Undefined for a create. `value` is the complete old object if the sender has it; always present for a delete. */
  before: optional(
    nested(5, message({ revision: int64(1), facts: nested(2, facts), value: optional(bytes(3)), fingerprint: optional(int64(4)) })),
  ),
  /** The time when the change reached the sender's memory, by the sender's clock; undefined for a change read from the past. For metrics. */
  committedMs: optional(double(6)),
  /** The W3C `traceparent` of the write; undefined without a trace. */
  traceparent: optional(string(7)),
})
export type Change = Static<typeof change>

const changesPart = variants({
  /** All changes, in order of revision. */
  changes: message({ changes: many(nested(1, change)), epoch: string(2) }),
  /** Everything up to this revision has been sent. Sent once for a revision, at most a second later. */
  position: message({ revision: int64(1), epoch: string(2) }),
  /** The requested revision is no longer available; the stream ends. */
  expired: message({ oldest: int64(1), epoch: string(2) }),
})
export type ChangesPart = Static<typeof changesPart>

const historyRequest = message({
  /** The prefix of the keys; '' for all. */
  prefix: string(1),
  /** True if the prefix is a whole key. */
  isKey: optional(bool(2)),
  /** Only changes after this revision. */
  after: int64(3),
  /** Only changes before this revision. Default: all up to now. */
  before: optional(int64(4)),
  /** Maximum number of changes in the answer, from 1 to `historyChangesMax`. */
  limit: int64(5),
})

/** A past change, with the objects in their served form. */
const pastChange = message({
  revision: int64(1),
  key: string(2),
  /** Milliseconds since 1970; undefined if unknown. */
  timeMs: optional(double(3)),
  /** The audit ID and the user; undefined if the server itself made the change, or if they are unknown. */
  request: optional(string(4)),
  user: optional(string(5)),
  /** Undefined for a create. */
  before: optional(bytes(6)),
  /** Undefined for a delete. */
  after: optional(bytes(7)),
})
export type PastChange = Static<typeof pastChange>

const historyResponse = message({
  /** Newest first. */
  changes: many(nested(1, pastChange)),
  /** The store's revision. */
  revision: int64(2),
  /** Changes up to this revision have been compacted. */
  compacted: int64(3),
  /** Set if older changes match: the next request asks for changes before this revision. */
  next: optional(int64(4)),
})

/** Maximum number of changes in one answer of `history`. */
export const historyChangesMax = 1_000

const statusResponse = message({
  epoch: string(1),
  revision: int64(2),
  /** Changes up to this revision have been compacted. */
  compacted: int64(3),
  /** '' if writes are possible, otherwise the reason why not. */
  refusing: string(4),
  entries: int64(5),
  bytes: int64(6),
  /** The profile of the objects' names: `orch` or `kubernetes`. It must be the same in all services of a control plane. */
  profile: string(7),
  /** For each member of the backend, '' or the reason why it does not answer. Empty if the caller did not ask for it. */
  members: many(string(8)),
})

/** The keys that admission may write: reservations of quotas, and the quotas, whose status shows the usage. */
const writtenByAdmission = ['quota/reservations/', 'core/resourcequotas/']

/** Storage answers from memory or after one request to its backend, normally within milliseconds. The timeout is short compared with the 3 s that a fault may delay a client. */
const promptMs = 1_000
/** Reads of a future revision wait 3 s before they fail, so the timeout is longer. */
const awaitedMs = 4_000

function answerMsOf({ kind }: Freshness): number {
  return kind === 'latest' || kind === 'any' ? promptMs : awaitedMs
}

const prompt = { answerMs: () => promptMs }

/** True if a role may write this key. Only gateways write objects, because only they know the user. */
function mayCommit(role: ServiceRole, key: string): boolean {
  return role === 'gateway' || (role === 'admission' && writtenByAdmission.some((prefix) => key.startsWith(prefix)))
}

const readers: readonly ServiceRole[] = ['gateway', 'watch', 'admission']

/**
 * Storage: the state and its changes.
 * 1. A written commit is durable and visible to `get`, `list` and `changes` before its outcome is returned.
 * 2. Revisions only grow; no two changes share one; one revision changes one key.
 * 3. A refused commit changes nothing and is never visible.
 * 4. `changes` delivers every change after the asked revision exactly once, in order.
 */
export const storageContract = contract(
  'orch.storage.v1.Storage',
  {
    get: unary(getRequest, getResponse, { callers: readers, idempotent: true, hot: true, answerMs: ({ read }) => answerMsOf(read) }),
    list: stream(listRequest, listPart, { callers: readers, idempotent: true, answerMs: ({ read }) => answerMsOf(read) }),
    commit: unary(commitRequest, commitOutcome, {
      callers: ['gateway', 'admission'],
      permits: (role, { key }) => mayCommit(role, key),
      hot: true,
      ...prompt,
    }),
    changes: stream(changesRequest, changesPart, { callers: readers, idempotent: true, endless: true }),
    /** The object's state at the newest revision up to `revision`; 410 if that is compacted. It gives the content of an object that has left a selection. */
    getAt: unary(message({ key: string(1), revision: int64(2) }), message({ entry: optional(nested(1, entry)) }), {
      callers: readers,
      idempotent: true,
      answerMs: () => awaitedMs,
    }),
    /** The newest changes of some keys before a revision, including changes from before a restore. With large objects an answer may be shorter than its limit. */
    history: unary(historyRequest, historyResponse, { callers: ['gateway'], idempotent: true, answerMs: () => awaitedMs }),
    /** The newest revision at a time in milliseconds since 1970. 410 if the time precedes the store's history or the store records no times. */
    revisionAt: unary(message({ timeMs: double(1) }), message({ revision: int64(1) }), {
      callers: ['gateway'],
      idempotent: true,
      answerMs: () => awaitedMs,
    }),
    /** With `asksMembers`, every member of the backend is asked, which takes longer if one is unreachable. */
    status: unary(message({ asksMembers: optional(bool(1)) }), statusResponse, {
      callers: readers,
      idempotent: true,
      answerMs: ({ asksMembers }) => (asksMembers === true ? awaitedMs : promptMs),
    }),
  },
  'storage',
)
export type StorageService = Service<typeof storageContract>
export type ListRequest = Static<typeof listRequest>
export type GetRequest = Static<typeof getRequest>
export type GetResponse = Static<typeof getResponse>
export type HistoryRequest = Static<typeof historyRequest>
export type HistoryResponse = Static<typeof historyResponse>
export type ChangesRequest = Static<typeof changesRequest>
export type StorageStatus = Static<typeof statusResponse>

/** Maximum number of conditions per commit. */
export const commitConditionsMax = 4
