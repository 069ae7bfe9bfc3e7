/** Bounds of messages between services. */
export const rpcLimits = {
  /** One message. The largest is a turn's worth of changes or events to one subscriber; a request's body is at most 3 MiB. */
  messageBytesMax: 128 * 1024 * 1024,
  /**
   * Bytes that a stream to another process or thread, and a connection as a whole, carries before its reader has taken them. With the
   * 64 KiB that HTTP/2 begins with, nine commits of an object of 7 KB are under way, and the next ones wait for the callee's event loop.
   */
  windowBytes: 1024 * 1024,
  /** Headers and trailers of one call. A Status that does not fit loses its details. */
  metadataBytesMax: 48 * 1024,
  /**
   * Longest pause before a lost connection is tried again. Short, as the callee restarts within seconds, and where all its replicas were away
   * clients wait for as long as this from their return on. An attempt that is refused costs a tenth of a millisecond.
   */
  reconnectDelayMsMax: 250,
  /** Longest that the making of a connection may take, from the first byte to the first answer of the other side. A busy machine needs a second. */
  connectMsMax: 2_000,
  /** Each attempt in a row may take twice as long as the one before it, up to this: a machine that is too busy for one must not begin for ever. */
  slowConnectMsMax: 8_000,
  /** Attempts to reach a replica for the first time until one is logged: a replica that starts together with us takes some seconds. */
  firstAttemptsMax: 40,
  /** Longest wait of a call for a ready replica. A restarting replica takes about that long; a longer wait would pile up requests. */
  waitMsMax: 1_000,
  /** Calls that wait for a replica. Each holds a client's request; beyond it they are refused at once. */
  waitingCallsMax: 4_096,
  /**
   * Pause between two probes of a replica, and the time for an answer. A replica that gives no answer gets no calls
   * after 1.6 s and a new connection after 2.2 s, so that a client that has to return is served within 3 s. A link that
   * takes 200 ms each way is still in time.
   */
  probeMs: 1_000,
  probeAnswerMs: 600,
  /**
   * After `unansweredMs` without an answer a call has its replica probed at once, unless that has answered another call meanwhile. Without
   * an answer to this probe, and to any call, within `silentAnswerMs` other replicas are asked: after 0.65 s, so that a client has its
   * answer within a second. A link that takes 200 ms each way is still in time.
   */
  unansweredMs: 200,
  silentAnswerMs: 450,
  /** Probes without an answer, or calls one after the other, until the connection is given up. The first may be a busy moment. */
  probesMissedMax: 2,
  lateCallsMax: 3,
  /**
   * Time for which a replica stays doubtful after a call without an answer, whatever probes report: its own backend may be away, which it
   * notices and reports within that time.
   */
  doubtMs: 2_000,
  /** A replica that gives others late answers is slow and not dead: a call gets its time multiplied by this. */
  slowAnswersMax: 8,
  /** Attempts of a call that may be repeated. Each has twice the time of the one before it: a replica may be busy. */
  attemptsMax: 3,
  /** Longest wait of an attempt for a ready replica. Beyond it the client is better served by another gateway. */
  attemptsMs: 2_700,
  /** Silence after which HTTP/2 itself tests a connection, and how long the answer may take; the called side notices lost callers by it. */
  keepaliveMs: 5_000,
  keepaliveTimeoutMs: 3_000,
  /** Interval of lookups of a name. An added replica gets work after that time. */
  resolveMs: 5_000,
  /** Replicas of one name. */
  replicasMax: 64,
  /** Calls of one stream of batches that have no answer yet; about twice the number that the gateways of a busy cluster have open. */
  exchangeCallsMax: 8_192,
  /** The bound of the bytes that wait to be sent on such a stream, either way. A reader that is this far behind gets no new calls. */
  exchangeQueueBytesMax: 64 * 1024 * 1024,
  /** One call or answer in a batch. An object is at most 3 MiB of JSON, and admission gets two of them. */
  exchangePayloadBytesMax: 32 * 1024 * 1024,
  /** The size of a batch: large enough to share the cost of a message, small enough not to delay its first call. */
  batchBytesMax: 512 * 1024,
  /** Longest wait of a stopping server for the calls that it has accepted. Below the 30 s that a pod has for its end. */
  drainMsMax: 20_000,
} as const
