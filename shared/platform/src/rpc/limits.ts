/** Bounds of messages between services. */
export const rpcLimits = {
  /** Size of a message. The largest holds the changes or events of one turn for a subscriber; a request's body is at most 3 MiB. */
  messageBytesMax: 128 * 1024 * 1024,
  /**
   * Unread bytes on a stream to another process or thread, and on a whole connection. With HTTP/2's default of
   * 64 KiB, nine commits of an object of 7 KB fill the window, and the next ones wait for the callee's event loop.
   */
  windowBytes: 1024 * 1024,
  /** Size of the headers and trailers of one call. A Status that does not fit is sent without details. */
  metadataBytesMax: 48 * 1024,
  /**
   * Maximum pause before a lost connection is retried. It is short because callees restart within seconds, and after an outage of all
   * replicas clients wait up to this long after their return. A refused attempt costs a tenth of a millisecond.
   */
  reconnectDelayMsMax: 250,
  /** Maximum time to connect, from the first byte to the other side's first answer. A busy machine needs a second. */
  connectMsMax: 2_000,
  /** Successive connection attempts may each take twice as long, up to this, so that a busy machine does not restart the attempt for ever. */
  slowConnectMsMax: 8_000,
  /** Number of first connection attempts before a failure is logged: a replica that starts at the same time takes some seconds. */
  firstAttemptsMax: 40,
  /** Maximum wait of a call for a ready replica, about the time of a replica's restart. A longer wait would accumulate requests. */
  waitMsMax: 1_000,
  /** Maximum number of calls that wait for a replica. Each holds a client's request; further calls are refused at once. */
  waitingCallsMax: 4_096,
  /**
   * Pause between two probes of a replica, and the time for an answer. A replica that does not answer receives no calls
   * after 1.6 s and is reconnected after 2.2 s, so that a client that retries is served within 3 s. A link with
   * a latency of 200 ms each way still answers in time.
   */
  probeMs: 1_000,
  probeAnswerMs: 600,
  /**
   * After `unansweredMs` without an answer to a call, its replica is probed at once, unless it has answered another call meanwhile. If it
   * answers neither the probe nor any call within `silentAnswerMs`, other replicas are used: after 0.65 s, so that a client has its
   * answer within a second. A link with a latency of 200 ms each way still answers in time.
   */
  unansweredMs: 200,
  silentAnswerMs: 450,
  /** Consecutive unanswered probes or calls before the connection is replaced. A single one may have met a busy moment. */
  probesMissedMax: 2,
  lateCallsMax: 3,
  /**
   * Time for which a replica stays doubtful after an unanswered call, whatever its probes report: its backend may be away, which the
   * replica detects and reports within that time.
   */
  doubtMs: 2_000,
  /** Factor on a call's time at a replica that answers other calls late: the replica is slow, not dead. */
  slowAnswersMax: 8,
  /** Maximum attempts of an idempotent call. Each has twice the time of the previous one, since a replica may be busy. */
  attemptsMax: 3,
  /** Maximum wait of an attempt for a ready replica. After that, another gateway serves the client faster. */
  attemptsMs: 2_700,
  /** Idle time before HTTP/2 pings a connection, and the time for the answer. The called side detects lost callers by it. */
  keepaliveMs: 5_000,
  keepaliveTimeoutMs: 3_000,
  /** Interval of DNS lookups. A new replica receives calls after this time. */
  resolveMs: 5_000,
  /** Maximum number of replicas per name. */
  replicasMax: 64,
  /** Maximum number of unanswered calls per batch stream, about twice the number of open calls of a busy cluster's gateways. */
  exchangeCallsMax: 8_192,
  /** Maximum number of bytes that wait to be sent on a batch stream, in either direction. Above it, the slow reader gets no new calls. */
  exchangeQueueBytesMax: 64 * 1024 * 1024,
  /** Maximum size of one call or answer in a batch. An object is at most 3 MiB of JSON, and admission receives two. */
  exchangePayloadBytesMax: 32 * 1024 * 1024,
  /** The size of a batch: large enough to share the cost of a message, small enough not to delay its first call. */
  batchBytesMax: 512 * 1024,
  /** Maximum wait of a stopping server for its accepted calls, less than the 30 s that Kubernetes gives a pod. */
  drainMsMax: 20_000,
} as const
