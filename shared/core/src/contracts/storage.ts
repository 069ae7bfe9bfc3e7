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
  /** Not older than the store's revision at the time of asking. While memory is being filled this is 429, as are those below. */
  latest: message({}),
  /** The present memory. While it is being filled such a read waits; one at the beginning of a watch is refused. */
  any: message({ beginsWatch: optional(bool(1)) }),
  /** Waits up to 3 s for the revision, then 504. `asked` is the client's own text, for the message. */
  notOlderThan: message({ revision: int64(1), asked: string(2) }),
  /**
   * At exactly this revision; compacted: 410; of the future: waits as above, then 504. `isPast`: revisions from before a restore are read,
   * too, which the store still has.
   */
  exact: message({ revision: int64(1), asked: string(2), isPast: optional(bool(3)) }),
  /** As exact, for a later page: another epoch is 410. */
  page: message({ revision: int64(1), epoch: string(2) }),
})
export type Freshness = Static<typeof freshness>

export const scopeMessage = message({ resource: string(1), namespace: optional(string(2)), name: optional(string(3)) })

export const selectionMessage = message({
  labels: json<readonly LabelRequirement[]>(1),
  fields: json<readonly FieldRequirement[]>(2),
  shards: optional(json<readonly ShardRange[]>(3)),
})

/** One object in its served form: complete JSON in the storage version, resourceVersion filled in. */
const entry = message({
  key: string(1),
  revision: int64(2),
  value: bytes(3),
  /** The position of `metadata`'s value (the braces included) in `value`. */
  metadataStart: int64(4),
  metadataEnd: int64(5),
  /** Random id of the write that made it, so that a lost answer can be distinguished from a lost write. */
  writeId: string(6),
  /** Of the schema that it was written under. */
  fingerprint: optional(int64(7)),
})
export type Entry = Static<typeof entry>

const getRequest = message({ key: string(1), read: union(2, freshness) })
/** The answer is the state at `revision`. */
const getResponse = message({
  entry: optional(nested(1, entry)),
  revision: int64(2),
  epoch: string(3),
  /** True: stored again unchanged, the object would be encrypted with another key. Absent: false. */
  isStale: optional(bool(4)),
})

const listRequest = message({
  scope: nested(1, scopeMessage),
  selection: nested(2, selectionMessage),
  read: union(3, freshness),
  /** 0: no limit. */
  limit: int64(4),
  /** Key, relative to the scope's prefix, of the first object to look at; '' from the beginning. */
  start: string(5),
  /** `joined`: bytes for the contents of `items`' brackets. `entries`: one by one. */
  layout: string(6),
  /** Form `joined`: objects of a schema with another fingerprint are in `entries`, neighbours with them. */
  fingerprint: optional(int64(7)),
})

const listPart = variants({
  /** Always first, alone. */
  head: message({
    revision: int64(1),
    epoch: string(2),
    /** The start of the next page, relative to the scope's prefix; absent: no more. */
    next: optional(string(3)),
    /** Objects after this page; absent where a selector was given or nothing remains. */
    remaining: optional(int64(4)),
  }),
  /** Form `joined`: whole objects of the wanted fingerprint, a comma between two objects of one chunk, none at its ends. */
  chunk: message({ bytes: bytes(1), count: int64(2) }),
  /** All objects in layout `entries`; in layout `joined` only the objects of another fingerprint. */
  entries: message({ entries: many(nested(1, entry)) }),
})
export type ListPart = Static<typeof listPart>

/**
 * True if these objects leave as ready bytes: the caller wants them so, and none of them was written under another schema, which
 * the caller would have to convert.
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

/** Another key must be at this revision; 0: must be absent. */
export const condition = message({ key: string(1), revision: int64(2) })

const commitRequest = message({
  key: string(1),
  /** Revision of the key that the writer has seen; 0: it must be absent. */
  expected: int64(2),
  /** At most four. */
  conditions: many(nested(3, condition)),
  /** A stored value (see `stored/`); absent: delete. */
  value: optional(bytes(4)),
  writeId: string(5),
  /** The delete is for an object that cannot be read, at any revision. A readable object makes it stale. */
  removesUnreadable: optional(bool(6)),
  /** Name of the user who sent the request. The history shows it. */
  user: optional(string(7)),
})
export type CommitRequest = Static<typeof commitRequest>

const commitOutcome = variants({
  /** Durable, and visible to every later read. */
  written: message({ revision: int64(1) }),
  /** Another write was first; no current: the object was deleted. */
  stale: message({ current: optional(nested(1, entry)) }),
  /** The condition of that number did not hold. */
  unmet: message({ index: int64(1) }),
})
export type CommitOutcome = Static<typeof commitOutcome>

const changesRequest = message({
  /** Only changes after this revision; compacted: the stream begins with `expired`. */
  after: int64(1),
  /** '' or the epoch that `after` belongs to; another one: the stream begins with `expired`. */
  epoch: string(2),
  /** Storage prefixes of resources; empty: all. */
  resources: many(string(3)),
})

/** The facts of an object that selectors match. */
const facts = message({ labels: stringMap(1), fields: stringMap(2) })
export type Facts = Static<typeof facts>

export const change = message({
  revision: int64(1),
  /** Revision of the change before this one, in the whole store. */
  previous: int64(2),
  key: string(3),
  /** Absent: the object was deleted. */
  after: optional(
    nested(
      4,
      message({
        value: bytes(1),
        metadataStart: int64(2),
        metadataEnd: int64(3),
        facts: nested(4, facts),
        /** Of the schema that it was written under. */
        fingerprint: optional(int64(5)),
      }),
    ),
  ),
  /** Absent: the object was created. `value` is the complete old object, where the sender has it; always for a delete. */
  before: optional(
    nested(5, message({ revision: int64(1), facts: nested(2, facts), value: optional(bytes(3)), fingerprint: optional(int64(4)) })),
  ),
  /** Time of its arrival in the sender's memory, by the sender's clock; absent for one that is read from the past. For metrics. */
  committedMs: optional(double(6)),
  /** W3C `traceparent` of the write; absent: it belongs to no trace. */
  traceparent: optional(string(7)),
})
export type Change = Static<typeof change>

const changesPart = variants({
  /** In order of revision, nothing left out. */
  changes: message({ changes: many(nested(1, change)), epoch: string(2) }),
  /** Everything up to this revision has been sent. At least once a second. */
  position: message({ revision: int64(1), epoch: string(2) }),
  /** The asked revision is no longer held; the stream ends. */
  expired: message({ oldest: int64(1), epoch: string(2) }),
})
export type ChangesPart = Static<typeof changesPart>

const historyRequest = message({
  /** Beginning of the keys; '': all. */
  prefix: string(1),
  /** The prefix is a whole key. */
  isKey: optional(bool(2)),
  /** Only changes after this revision. */
  after: int64(3),
  /** Only changes before this revision; absent: up to the present. */
  before: optional(int64(4)),
  /** Most changes of the answer, from 1 to `historyChangesMax`. */
  limit: int64(5),
})

/** One change of the past, with the objects in their served form. */
const pastChange = message({
  revision: int64(1),
  key: string(2),
  /** Milliseconds since 1970; absent: not known. */
  timeMs: optional(double(3)),
  /** Audit ID and user; absent: the server itself made it, or they are not known. */
  request: optional(string(4)),
  user: optional(string(5)),
  /** Absent: the object was created. */
  before: optional(bytes(6)),
  /** Absent: the object was deleted. */
  after: optional(bytes(7)),
})
export type PastChange = Static<typeof pastChange>

const historyResponse = message({
  /** Newest first. */
  changes: many(nested(1, pastChange)),
  /** The store's revision. */
  revision: int64(2),
  /** Changes up to this revision are forgotten. */
  compacted: int64(3),
  /** Older changes match: ask for those before this revision. Absent: there are none. */
  next: optional(int64(4)),
})

/** Most changes in one answer of `history`. */
export const historyChangesMax = 1_000

const statusResponse = message({
  epoch: string(1),
  revision: int64(2),
  /** Changes up to this revision are expired. */
  compacted: int64(3),
  /** '' when writes are possible, else the reason why not. */
  refusing: string(4),
  entries: int64(5),
  bytes: int64(6),
  /** The profile of the objects' names: `orch` or `kubernetes`. All services of a control plane must agree. */
  profile: string(7),
  /** For each member of the backend, the reason why it does not answer: '' if it does. Empty if it was not asked for. */
  members: many(string(8)),
})

/** The keys that admission may write: reservations of quotas, and the quotas, whose status shows the used amounts. */
const writtenByAdmission = ['quota/reservations/', 'core/resourcequotas/']

/** Storage answers from memory, or after one question to its backend: milliseconds, as a rule. Short beside the 3 s that a fault may cost a client. */
const promptMs = 1_000
/** A future revision is waited for, for 3 s; the answer after that says so. */
const awaitedMs = 4_000

function answerMsOf({ kind }: Freshness): number {
  switch (kind) {
    case 'latest':
    case 'any':
      return promptMs
    case 'notOlderThan':
    case 'exact':
    case 'page':
      return awaitedMs
  }
}

const prompt = { answerMs: () => promptMs }

/** True if a role may write this key. Objects are written by gateways, which alone know the user. */
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
    /** The object's state at the newest revision not above `revision`, or 410 where that has been compacted; for the content of an object that left a selection. */
    getAt: unary(message({ key: string(1), revision: int64(2) }), message({ entry: optional(nested(1, entry)) }), {
      callers: readers,
      idempotent: true,
      answerMs: () => awaitedMs,
    }),
    /** The newest changes of some keys before a revision, those from before a restore included. An answer ends early where objects are large. */
    history: unary(historyRequest, historyResponse, { callers: ['gateway'], idempotent: true, answerMs: () => awaitedMs }),
    /** The newest revision at a time, in milliseconds since 1970. 410: the time precedes the history of the store, or the store notes no times. */
    revisionAt: unary(message({ timeMs: double(1) }), message({ revision: int64(1) }), {
      callers: ['gateway'],
      idempotent: true,
      answerMs: () => awaitedMs,
    }),
    /** `asksMembers`: each member of the backend is asked, which takes longer while one is unreachable. */
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

/** Most conditions that one commit may carry. */
export const commitConditionsMax = 4
