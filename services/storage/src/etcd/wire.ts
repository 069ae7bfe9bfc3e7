import { wire } from '@orch/core/contracts'
import type { Revision } from '@orch/core/meta'
import { codecOf } from '@orch/platform/rpc'

/**
 * The etcd messages of commits and changes, with only the used fields. The library decodes messages completely and converts their 64-bit numbers,
 * four in each header, to texts, which takes longer than the rest of a commit.
 */

/** Numbers for which etcd's protocol files use names. */
const equal = 0
const modRevision = 2
const deleted = 1

const head = wire.message({ revision: wire.int64(3) })
const current = wire.message({ key: wire.bytes(1), revision: wire.int64(3), value: wire.bytes(5) })
const previous = wire.message({ revision: wire.int64(3) })

const compare = wire.message({ result: wire.int64(1), target: wire.int64(2), key: wire.bytes(3), revision: wire.int64(6) })
const look = wire.message({ key: wire.bytes(1), keysOnly: wire.bool(8) })
const put = wire.message({ key: wire.bytes(1), value: wire.bytes(2) })
const remove = wire.message({ key: wire.bytes(1) })
const step = wire.message({
  look: wire.optional(wire.nested(1, look)),
  put: wire.optional(wire.nested(2, put)),
  remove: wire.optional(wire.nested(3, remove)),
})
const transaction = wire.message({
  compare: wire.many(wire.nested(1, compare)),
  success: wire.many(wire.nested(2, step)),
  failure: wire.many(wire.nested(3, step)),
})
const looked = wire.message({ found: wire.many(wire.nested(2, previous)) })
const answer = wire.message({ look: wire.optional(wire.nested(1, looked)) })
const transactionAnswer = wire.message({
  head: wire.nested(1, head),
  succeeded: wire.bool(2),
  answers: wire.many(wire.nested(3, answer)),
})

const event = wire.message({
  type: wire.int64(1),
  kv: wire.nested(2, current),
  before: wire.optional(wire.nested(3, previous)),
})
const watchResponse = wire.message({
  head: wire.nested(1, head),
  created: wire.bool(3),
  canceled: wire.bool(4),
  compacted: wire.int64(5),
  reason: wire.string(6),
  isFragment: wire.bool(7),
  events: wire.many(wire.nested(11, event)),
})

const following = wire.message({
  key: wire.bytes(1),
  end: wire.bytes(2),
  from: wire.int64(3),
  progress: wire.bool(4),
  before: wire.bool(6),
  fragments: wire.bool(8),
})
const question = wire.message({
  follow: wire.optional(wire.nested(1, following)),
  position: wire.optional(wire.nested(3, wire.message({}))),
})

/** The operations of a transaction, its conditions, and its reads if a condition fails. */
export interface Transaction {
  readonly guards: readonly { readonly key: Buffer; readonly revision: Revision }[]
  readonly puts: readonly { readonly key: Buffer; readonly value: Buffer }[]
  readonly removes: readonly Buffer[]
  readonly looks: readonly Buffer[]
}

/** The result of a transaction. */
export interface TransactionAnswer {
  readonly revision: Revision
  readonly succeeded: boolean
  /** The revisions of the compared keys; 0 for an absent key. */
  readonly looks: readonly Revision[]
}

const transactionCodec = codecOf(transaction)
const transactionAnswerCodec = codecOf(transactionAnswer)

/** The bytes of a `TxnRequest`. */
export function printTransaction({ guards, puts, removes, looks }: Transaction): Buffer {
  return transactionCodec.encode({
    compare: guards.map(({ key, revision }) => ({ result: equal, target: modRevision, key, revision })),
    success: [...puts.map((one) => ({ put: one })), ...removes.map((key) => ({ remove: { key } }))],
    failure: looks.map((key) => ({ look: { key, keysOnly: true } })),
  })
}

/** Reads a `TxnResponse`. */
export function parseTransactionAnswer(bytes: Buffer): TransactionAnswer {
  const { head: at, succeeded, answers } = transactionAnswerCodec.decode(bytes)
  return { revision: at.revision, succeeded, looks: answers.map(({ look: keys }) => keys?.found[0]?.revision ?? 0) }
}

const lookCodec = codecOf(look)
const headCodec = codecOf(wire.message({ head: wire.nested(1, head) }))

/** The bytes of a `RangeRequest` for one key without its value; the answer contains etcd's revision. */
export function printLook(key: Buffer): Buffer {
  return lookCodec.encode({ key, keysOnly: true })
}

/** Reads the revision of a `RangeResponse`. */
export function parseRevision(bytes: Buffer): Revision {
  return headCodec.decode(bytes).head.revision
}

/** A change as a watch reports it. */
export interface EtcdEvent {
  readonly isDelete: boolean
  readonly key: Buffer
  readonly revision: Revision
  readonly value: Buffer
  /** The revision of the replaced value; 0 if there was no value, or etcd has compacted it. */
  readonly replaces: Revision
}

/** A message of a watch. */
export interface WatchAnswer {
  readonly revision: Revision
  readonly created: boolean
  readonly canceled: boolean
  readonly reason: string
  /** If not 0, etcd has compacted the requested revision and all up to this revision. */
  readonly compacted: Revision
  /** The next answer continues the same revision. */
  readonly isFragment: boolean
  readonly events: readonly EtcdEvent[]
}

const watchCodec = codecOf(watchResponse)
const questionCodec = codecOf(question)

/** Reads a `WatchResponse`. */
export function parseWatchAnswer(bytes: Buffer): WatchAnswer {
  const { head: at, events, ...rest } = watchCodec.decode(bytes)
  return { ...rest, revision: at.revision, events: events.map(toEvent) }
}

function toEvent({ type, kv, before }: wire.Static<typeof event>): EtcdEvent {
  const [key, value] = [kv.key as Buffer, kv.value as Buffer]
  return { isDelete: type === deleted, key, revision: kv.revision, value, replaces: before?.revision ?? 0 }
}

/** The bytes of a `WatchRequest`: all keys of a prefix from a revision on, or a request for the watch's progress. */
export type WatchQuestion =
  | { readonly kind: 'follow'; readonly key: Buffer; readonly end: Buffer; readonly from: Revision }
  | { readonly kind: 'position' }

/** Prints the message. */
export function printWatchQuestion(asked: WatchQuestion): Buffer {
  if (asked.kind === 'position') return questionCodec.encode({ position: {} })
  const { key, end, from } = asked
  return questionCodec.encode({ follow: { key, end, from, progress: true, before: true, fragments: true } })
}
