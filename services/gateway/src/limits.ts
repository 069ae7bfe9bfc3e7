/** Limits of the gateway, each with the reason for its number. */
export const limits = {
  /** Characters of a user name stored with a change; longer names come from tokens. */
  historyUserMax: 512,
  /** Maximum bytes of a request body. The level has its own limit, which the 413 names. */
  bodyBytesMax: 3 * 1024 * 1024,
  /** Size from which bodies and objects are processed in steps. Smaller ones take a few milliseconds at most. */
  largeBytesMin: 64 * 1024,
  /**
   * Duration for which requests begin in one turn of the event loop. Answers, and calls of other services, are sent between two turns: with 64
   * simultaneous creates, the first ones are sent after this time instead of after 60 ms.
   */
  requestTurnMs: 1,
  /** Maximum turn if other work takes longer: requests get half of the loop, but no turn is noticeably long. */
  requestTurnMsMax: 20,
  /** Size from which JSON is indented in the thread of texts. */
  prettyBytesMin: 512 * 1024,
  /** Timeout of a job in the thread of texts; our longest body or list takes some seconds. */
  textJobMsMax: 30_000,
  /** Memory of the thread of texts in megabytes: twice the size of a list of 10,000 objects as YAML. */
  textThreadMbMax: 2_048,
  /** Maximum bytes of a list as YAML or indented JSON, which is copied for the thread at once. */
  wholeListBytesMax: 64 * 1024 * 1024,
  /** Maximum bytes of texts that wait for the thread; the next one is refused. */
  textWaitingBytesMax: 256 * 1024 * 1024,
  /**
   * Maximum members and items of one body. An object of 1.5 MiB, the maximum of the store, would have 20 bytes for each; ordinary objects have twice as
   * many, and each costs some microseconds in every pass over the object.
   */
  bodyValuesMax: 75_000,
  /** Maximum entries of `metadata.managedFields` in one body. The server itself keeps ten in addition to those of applies. */
  managedFieldsMax: 1_000,
  /** Maximum bytes of a request head. A client certificate is sent in the handshake, so heads are far smaller. */
  headBytesMax: 1024 * 1024,
  /** Maximum bytes of a request head at a port without TLS: a browser sends a cookie and few other fields. */
  plainHeadBytesMax: 64 * 1024,
  /** Maximum connections at such a port: browsers open six each. */
  plainConnectionsMax: 256,
  /** Timeout of a request head; ends a client that trickles bytes to hold a connection. */
  headTimeoutMs: 32_000,
  /** Timeout of head and body. */
  receiveTimeoutMs: 60_000,
  /** Timeout of a TLS handshake. */
  handshakeTimeoutMs: 10_000,
  /** Idle timeout of a connection. */
  idleTimeoutMs: 90_000,
  /** Time that an HTTP/1.1 connection is read after its last answer: a client that sends a long body reads the answer after it. */
  lingerMs: 10_000,
  /** Maximum bytes read and dropped meanwhile: five of the largest bodies. A client that sends more may get a connection reset. */
  lingerBytesMax: 16 * 1024 * 1024,
  /** Maximum open streams of one HTTP/2 connection. */
  streamsPerConnectionMax: 250,
  /** Maximum streams that a client may open and reset at once: twice the open streams. A client with more is disconnected. */
  streamResetsAtOnceMax: 500,
  /** Sustained rate of resets by a client, per second. */
  streamResetsPerSecondMax: 33,
  /** Maximum streams of one HTTP/2 connection with refused heads. Clients do not send heads of a megabyte; Node limits other refusals likewise. */
  refusedHeadsMax: 100,
  /** Interval of counting refused heads: Node does not report them, and the check is cheap. */
  headCheckMs: 1_000,
  /**
   * Maximum streams before a client has acknowledged the settings, which limit its heads only from then on. Many threads of one client may open streams
   * by the new limit before one of them sends the acknowledgement: four times the open streams.
   */
  unconfirmedStreamsMax: 1_000,
  /** Maximum megabytes of one HTTP/2 connection before new streams are refused: several large lists to slow readers. */
  memoryPerConnectionMb: 64,
  /** Maximum reads in flight; another is answered with 429. Watches do not count. */
  readsInFlightMax: 400,
  /** Maximum writes in flight; another is answered with 429. */
  writesInFlightMax: 200,
  /** Retry-After of a 429. */
  retryAfterSeconds: 1,
  /** Default timeout of a request, except for watches. */
  requestTimeoutMs: 60_000,
  /** Size of chunks to which a list is joined before it is written: large enough to be cheap, small enough to share a connection. */
  listChunkBytes: 256 * 1024,
  /** Maximum bytes of a list written at once: they are encrypted together, and stay in memory until the client reads. */
  listWriteBytes: 1024 * 1024,
  /** Size from which bodies are compressed for clients that accept it; below, it costs more than it saves. */
  gzipBytesMin: 128 * 1024,
  /** Maximum waiting bytes of one watch; with more it ends after them, and resumes there. */
  watchBacklogBytesMax: 4 * 1024 * 1024,
  /**
   * Maximum bytes written to a watch at once while its client may not read: they are encrypted and stored only for it. Two thousand such clients hold 64
   * MB.
   */
  watchPieceBytesMin: 32 * 1024,
  /** Size of pieces while few bytes are unread over all watches: larger writes cost less CPU. */
  watchPieceBytesMax: 256 * 1024,
  /** Unread bytes of all watches up to which pieces are large. */
  unreadBytesRelaxed: 16 * 1024 * 1024,
  /** Maximum waiting bytes of all watches of one connection: enough for eight slow watches. Beyond it the longest-stalled watches are ended. */
  unreadBytesPerConnectionMax: 32 * 1024 * 1024,
  /** Maximum waiting bytes of all watches of one user. Each watch counts shared events separately, so they use less memory. */
  unreadBytesPerUserMax: 128 * 1024 * 1024,
  /** Time after a read in which a watch is not ended for these two limits. */
  watchSlowMs: 1_000,
  /** Time without a read of the initial state after which a client no longer holds the snapshot; the rest is read when it continues. */
  stateStallMs: 500,
  /** Time without a read after which a watch with waiting bytes is ended. */
  watchStallMs: 60_000,
  /** Maximum wait of a watch for earlier events after its definition was changed or deleted. */
  watchLastEventsMs: 30_000,
  /** Time after its end after which a watch with waiting bytes is disconnected. */
  watchLeaveMs: 30_000,
  /** Maximum bytes of a client message in a WebSocket watch, which is read and ignored. */
  webSocketMessageBytesMax: 64 * 1024,
  /** Maximum bytes of a data frame of a tunnel over SPDY. Clients of Kubernetes send 32 KiB; the format allows 16 MiB. */
  spdyFrameBytesMax: 1024 * 1024,
  /** Maximum bytes of a control frame, which has to be buffered completely: twice a block of headers. */
  spdyControlBytesMax: 32 * 1024,
  /** Maximum bytes of one stream's decompressed headers: clients send some 100 bytes, and a block may expand a thousand times. */
  spdyHeaderBytesMax: 16 * 1024,
  /** Maximum open streams of one tunnel: an exec has five, a port-forward two for each connection to the port. */
  spdyStreamsMax: 2048,
  /** Maximum pings and settings in one read of a connection: a client's number in an hour, one every five seconds, or a fifth of a full read. */
  spdyIdleFramesMax: 1000,
  /** Maximum frames processed before other work runs: some milliseconds for those with headers. */
  spdyFramesPerTurn: 64,
  /** Maximum unread bytes of a tunnel in each direction before reading from the client stops. */
  streamUnreadBytesMax: 256 * 1024,
  /** Maximum bytes of a client message of a tunnel over WebSocket. Clients of Kubernetes send 32 KiB. */
  channelMessageBytesMax: 1024 * 1024,
  /** Maximum bytes of a kubelet's final Status of a command, which clients read as a whole. */
  commandStatusBytesMax: 64 * 1024,
  /** Maximum bytes of a kubelet's refusal in the message of a Status, as in kube-apiserver. */
  kubeletRefusalBytesMax: 50_000,
  /** Idle timeout of a tunnel, as in a kubelet. */
  tunnelIdleMs: 4 * 60 * 60_000,
  /** Timeout for the client to open the streams of an exec or of a forwarded connection, as in a kubelet. */
  streamOpeningMs: 30_000,
  /** Interval of bookmarks. */
  bookmarkIntervalMs: 60_000,
  /** Time between the last bookmark and the end of a watch. */
  lastBookmarkMs: 2_000,
  /** Minimum duration of a watch without `timeoutSeconds`; the actual one is random up to twice this, so that clients do not reconnect together. */
  watchLifeMs: 30 * 60_000,
  /** Retry-After in seconds of a refusal during shutdown, as in kube-apiserver. */
  retryAfterAtEndSeconds: 5,
  /** Maximum delay between ends of watches: a few clients may reconnect together, and a server with few watches stops at once. */
  watchEndPauseMs: 0.5,
  /** Time after the last write in which connections may send the remaining bytes before they are closed. */
  lastBytesMs: 1_000,
  /** Delay before closing a connection whose last answer could not announce that it was the last: its client may be sending another request. */
  leavingPauseMs: 200,
  /** Maximum attempts of a write that lost a race. Writers of one gateway are serialized, so that they lose only to other gateways. */
  writeAttemptsMax: 100,
  /** Maximum attempts with generated names: eight characters rarely collide. */
  generatedNamesMax: 5,
  /** Maximum past states of an object searched for a write whose answer was lost. */
  lostReplyStepsMax: 32,
  /**
   * Maximum search for the outcome of a commit whose answer was lost. With the second of the commit itself, this is less than 3 s: a client that may ask
   * another gateway should learn by then that the outcome is unknown. An etcd elects a leader in that time.
   */
  lostReplyMs: 1_800,
  /**
   * Maximum wait for the outcome of a create without an answer. The create is only looked up, because a slow store, or one during an election, has
   * written it by then.
   */
  lateCreateMs: 1_000,
  /**
   * Maximum wait for the outcome of a create after a lost connection: the request was written at once, or never. A silent replica of storage is
   * replaced after 0.65 s, so that the client learns within a second that the outcome is unknown.
   */
  lostCreateMs: 200,
  /** Delay between two attempts to find the outcome. */
  lostReplyPauseMs: 50,
  /** Maximum cached `Accept` texts. */
  acceptTextsMax: 1_000,
  /** Maximum characters of a cached `Accept` text; clients send some 200, and a hostile one may send a million. */
  acceptTextLengthMax: 1_024,
  /** Maximum characters of an `Accept` text that are read: a million take 0.1 s. */
  acceptTextReadMax: 65_536,
  /** Bytes of cached Protobuf items and Table rows: a list of 10,000 objects of 3 KB fits twice. */
  representationBytesMax: 64 * 1024 * 1024,
  /**
   * Bytes of cached objects of the last writes, by their served bytes: a thousand Deployments of three Pods until their controllers have written all
   * status. Parsed they take about three times as much, most of which informers of this process share.
   */
  recentObjectsBytes: 8 * 1024 * 1024,
  /**
   * Budget of the readers built from the schemas of custom resources: the trees of some 800 definitions of 25 KB, with all readers of their objects. The
   * least recently used is dropped, and rebuilt when it is used.
   */
  schemaBytesMax: 64 * 1024 * 1024,
  /** Maximum objects of one call of a conversion webhook: a usual page of a list. */
  conversionObjectsMax: 500,
  /** Maximum bytes of the objects of one call: a page of objects of 3 KB each; the answer may be half as long again. */
  conversionBytesMax: 2 * 1024 * 1024,
  /** Maximum JSON bytes converted to Protobuf items at once: the 64 objects of 3 KB that storage returns at once fit. */
  itemsBytesAtOnce: 256 * 1024,
  /** Maximum JSON bytes of a list converted to CBOR in one turn of the event loop: some milliseconds. */
  cborBytesAtOnce: 64 * 1024,
  /** Maximum pieces of a Protobuf list, of some 64 objects each, looked up before other work runs: about a millisecond. */
  readyPiecesPerTurn: 16,
  /** Age from which admission rules are not trusted, so that admission is called for every write. */
  admissionRulesAgeMsMax: 5_000,
  /** Maximum wait for admission rules that include the object just written: admission sends them at once, at the latest every second. */
  admissionRulesWaitMsMax: 3_000,
  /** Maximum calls of one phase of admission for one write; each plugin requests one more at most, so more is a bug. */
  admissionCallsMax: 8,
  /** Maximum characters of path and query; longer ones cannot name anything. */
  targetBytesMax: 64 * 1024,
  /** Maximum characters of all warnings of one answer. Clients refuse heads of more than about 16 KiB. */
  warningsLengthMax: 4 * 1024,
  /** Maximum characters of the explanation header; with the warnings it stays below clients' limits. */
  explainHeaderLengthMax: 8 * 1024,
  /** Maximum phases of writes in an explanation; a request with more than one write deletes a collection. */
  explainedPhasesMax: 64,
  /** Maximum steps of plugins and webhooks in an explanation: two rounds of all plugins and many webhooks. */
  explainedStepsMax: 256,
  /** Maximum steps of a shortened explanation. */
  shortenedStepsMax: 16,
  /** Maximum characters of a text in a shortened explanation, such as a user name. */
  shortenedTextMax: 128,
  /** Number of stored explanations of writes, and of older refusals: enough for a client to find the explanation of its last write. */
  explanationsKeptMax: 256,
  /** Maximum characters of a message or reason in a stored explanation; a message may repeat a client's body a hundred times. */
  keptTextMax: 4_096,
  /** Maximum causes of a stored refusal. */
  keptCausesMax: 32,
  /** Maximum characters of a stored patch; longer ones are shown only to the caller, as far as they fit. */
  keptPatchLengthMax: 16 * 1024,
  /** Maximum characters of each warning if all together are too long. */
  cutWarningLengthMax: 256,
  /** Maximum number of reported errors of one object. A body of 3 MiB may have so many errors that reporting all would take sixty times its size. */
  fieldErrorsMax: 1_000,
  /** Maximum bytes of an answer stored for its audit event; a longer one is truncated and marked so. */
  auditAnswerBytesMax: 10 * 1024 * 1024,
  /** Maximum bytes of bodies waiting to be parsed for their events before further requests wait: some of the largest answers. */
  auditWaitingBytesMax: 64 * 1024 * 1024,
  /** Maximum addresses from `X-Forwarded-For` in an audit event. */
  auditSourcesMax: 16,
  /** Maximum characters of a user agent in an audit event. */
  auditUserAgentLengthMax: 1024,
  /** Maximum pending events of a blocking audit backend before further requests wait: about the number in flight at once. */
  auditBlockedEventsMax: 1_000,
  /** Maximum wait of a stopping server for a backend to accept the remaining events; the others are dropped and counted. */
  auditClosingMs: 10_000,
  /** Attempts to deliver a batch of audit events. */
  auditAttemptsMax: 5,
  /** Number of lost audit events between two log lines. */
  auditLossesPerLine: 1_000,
  /** Maximum cached answers of the authorization webhook: about 1 KB each. */
  accessAnswersMax: 8_192,
  /** Maximum characters of a cached request to the authorization webhook; paths and names may be invented, and long. */
  accessQuestionLengthMax: 10_000,
  /** Maximum attempts to get an answer from the authorization webhook. */
  accessAttemptsMax: 5,
  /** Delay before the second attempt, which grows by half with each further one. */
  accessRetryMs: 500,
  /** Wait of a read for a revision that its frozen cache has not reached, as kube-apiserver waits for its cache. */
  frozenWaitMs: 3_000,
  /** Maximum faults of a test at a time. */
  faultsMax: 1_000,
  /** Maximum finished faults of a test, whose hits can still be read. */
  endedFaultsMax: 1_000,
  /** Maximum rows of one kind on the admission page, as clients name webhooks and policies. */
  admissionRowsMax: 1_000,
  /** Maximum bytes of a control request. */
  controlBodyBytesMax: 1024 * 1024,
  /** Maximum logged requests of a test: about 200 bytes each. */
  loggedRequestsMax: 10_000,
  /** Maximum distinct `User-Agent` texts shared among requests. */
  loggedAgentsMax: 256,
  /** Maximum characters of a logged path or agent. */
  loggedTextMax: 1_000,
  /** Maximum bytes of a logged body, if the control of the server shows bodies: objects have some kilobytes. */
  loggedBodyBytesMax: 64 * 1024,
  /** Maximum bytes of all logged bodies; the oldest are dropped. */
  loggedBodiesBytesMax: 16 * 1024 * 1024,
  /** Maximum cached classifications of requests. */
  flowMatchesMax: 1_000,
  /** Maximum characters of a client's texts in a key of flow control. Paths may have 64 KiB, and be invented. */
  flowKeyLengthMax: 512,
  /** Maximum cached lists with a weight; lists below one seat are not cached. */
  flowListsMax: 1_000,
  /** Bytes of a body per seat; without the gate SizeBasedListCostEstimate, also of a list. */
  flowBytesPerSeat: 256 * 1024,
  /** Bytes of a list per seat. */
  flowListBytesPerSeat: 100_000,
  /** Objects of a page per seat. */
  flowObjectsPerSeat: 100,
  /** Maximum seats of one request; without the gate SizeBasedListCostEstimate, also of a list. */
  flowSeatsPerRequestMax: 10,
  /** Maximum seats of one list. */
  flowSeatsPerListMax: 100,
  /** Maximum wait for a seat, as a fraction of the request's timeout. */
  flowWaitPart: 1 / 4,
} as const
