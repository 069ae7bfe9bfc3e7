/** Bounds of the gateway, each with the reason for its number. */
export const limits = {
  /** Characters of a user's name that the history keeps with a change; names that are longer come from tokens. */
  historyUserMax: 512,
  /** Largest request body. The level's own bound, which the 413 names. */
  bodyBytesMax: 3 * 1024 * 1024,
  /** Bodies and objects from this size on are worked on in steps. Smaller ones take a few milliseconds at most. */
  largeBytesMin: 64 * 1024,
  /**
   * The time for which requests begin in one turn of the event loop. Answers, and calls of other services, leave between two turns: with 64
   * creates that come together, the first ones leave after this time instead of after 60 ms.
   */
  requestTurnMs: 1,
  /** The same, if other work takes longer: half of the loop is for requests, but no turn is longer than people notice. */
  requestTurnMsMax: 20,
  /** JSON from this size on is indented for readers in the thread of texts. */
  prettyBytesMin: 512 * 1024,
  /** Longest that the thread of texts may take for one; the longest that a body or a list of ours takes is some seconds. */
  textJobMsMax: 30_000,
  /** Memory of the thread of texts in megabytes: the size of a list of 10,000 objects as YAML, and as much again. */
  textThreadMbMax: 2_048,
  /**
   * Members and items of one body. An object of 1.5 MiB, the most that the store takes, would have 20 bytes for each; objects of
   * people have twice as many, and each costs some microseconds in every pass over the object.
   */
  bodyValuesMax: 75_000,
  /** Entries of `metadata.managedFields` in one body. The server itself keeps ten besides those of appliers. */
  managedFieldsMax: 1_000,
  /** Largest request head, all fields together. A client certificate travels in the handshake, so heads stay far below. */
  headBytesMax: 1024 * 1024,
  /** The same at a port without TLS: a page of a browser sends a cookie and few other fields. */
  plainHeadBytesMax: 64 * 1024,
  /** Connections at such a port: browsers open six each. */
  plainConnectionsMax: 256,
  /** Longest a client may take to send a head; ends a client that trickles bytes to hold a connection. */
  headTimeoutMs: 32_000,
  /** Longest a client may take to send head and body. */
  receiveTimeoutMs: 60_000,
  /** Longest TLS handshake. */
  handshakeTimeoutMs: 10_000,
  /** A connection without a request is closed after this. */
  idleTimeoutMs: 90_000,
  /** Time for which a connection over HTTP/1.1 is read after its last answer: a client that sends a long body reads the answer after it. */
  lingerMs: 10_000,
  /** Bytes that are read and dropped meanwhile: five of the largest bodies. A client that sends more may find the connection broken. */
  lingerBytesMax: 16 * 1024 * 1024,
  /** Streams that one HTTP/2 connection may have open. */
  streamsPerConnectionMax: 250,
  /** Streams that a client may begin and reset at once: as many as it may have open, twice over. A client with more is a flood, and cut off. */
  streamResetsAtOnceMax: 500,
  /** Sustained rate of streams that a client may reset, per second. */
  streamResetsPerSecondMax: 33,
  /** Streams of one HTTP/2 connection whose heads may be refused. Clients do not send heads of a megabyte; Node bounds other refusals likewise. */
  refusedHeadsMax: 100,
  /** Interval of counting refused heads: Node does not report them, and looking at a connection costs little. */
  headCheckMs: 1_000,
  /** Streams that a client may begin before it has confirmed the settings, which bound its heads only from then on. Clients assume a hundred. */
  unconfirmedStreamsMax: 100,
  /** Megabytes that one HTTP/2 connection may hold before new streams on it are refused: several large lists to slow readers. */
  memoryPerConnectionMb: 64,
  /** Reads in flight; one more is answered 429. Watches do not count. */
  readsInFlightMax: 400,
  /** Writes in flight; one more is answered 429. */
  writesInFlightMax: 200,
  /** Delay that a 429 asks for. */
  retryAfterSeconds: 1,
  /** Longest a request may take when no setting says otherwise, watches aside. */
  requestTimeoutMs: 60_000,
  /** A list is joined to chunks of about this size before it is written: large enough to be cheap, small enough to share a connection. */
  listChunkBytes: 256 * 1024,
  /** Bytes of a list written at once: they are encrypted at once, and stay in memory until the client reads. */
  listWriteBytes: 1024 * 1024,
  /** Bodies from this size on are compressed for clients that ask for it; below, it costs more than it saves. */
  gzipBytesMin: 128 * 1024,
  /** Waiting bytes of one watcher; one with more gets these, then the end, and resumes where it stopped. */
  watchBacklogBytesMax: 4 * 1024 * 1024,
  /**
   * Bytes that a watcher's connection is given at once while its client may not read: they are encrypted and held for it alone. Two
   * thousand such clients hold 64 MB.
   */
  watchPieceBytesMin: 32 * 1024,
  /** The same while little is unread over all watchers: larger writes cost less CPU. */
  watchPieceBytesMax: 256 * 1024,
  /** Bytes that all watchers have not taken up to which pieces are large. */
  unreadBytesRelaxed: 16 * 1024 * 1024,
  /** Waiting bytes of all watches of one connection; beyond it the longest-stalled ones are ended. Eight may be that slow. */
  unreadBytesPerConnectionMax: 32 * 1024 * 1024,
  /** The same for all watches of one user. Of shared events each watch counts its own share, so this is more than the memory that they take. */
  unreadBytesPerUserMax: 128 * 1024 * 1024,
  /** A watcher that has taken something within this time is not ended for the two bounds above. */
  watchSlowMs: 1_000,
  /** A client that takes nothing of the initial state for this long no longer holds the snapshot; the rest is read when it continues. */
  stateStallMs: 500,
  /** A watcher that takes nothing of its waiting bytes for this long is ended. */
  watchStallMs: 60_000,
  /** Longest wait of a watch for earlier events after its definition has changed or was deleted. */
  watchLastEventsMs: 30_000,
  /** A watcher that has not taken its waiting bytes this long after its end is cut off. */
  watchLeaveMs: 30_000,
  /** Longest message of a client of a watch that is a WebSocket, which is read and ignored. */
  webSocketMessageBytesMax: 64 * 1024,
  /** Longest data frame of a tunnel over SPDY. Clients of Kubernetes send 32 KiB; the format allows 16 MiB. */
  spdyFrameBytesMax: 1024 * 1024,
  /** Longest control frame, which has to be there as a whole: a block of headers, and as much again. */
  spdyControlBytesMax: 32 * 1024,
  /** Headers of one stream when they are unpacked: clients send some 100 bytes, and a packed block may be a thousand times as long. */
  spdyHeaderBytesMax: 16 * 1024,
  /** Streams that one connection may have open: an exec has five, a port-forward two for each connection to the port. */
  spdyStreamsMax: 256,
  /** Pings and settings in one read of a connection: what clients send in an hour, one every five seconds, and a fifth of a full read. */
  spdyIdleFramesMax: 1000,
  /** Frames that are handled before others get their turn: some milliseconds for those with headers. */
  spdyFramesPerTurn: 64,
  /** Bytes of a tunnel's client that wait to be taken, and bytes that wait for the client, before nothing more is read from it. */
  streamUnreadBytesMax: 256 * 1024,
  /** Longest message of a client of a tunnel over WebSocket. Clients of Kubernetes send 32 KiB. */
  channelMessageBytesMax: 1024 * 1024,
  /** Longest Status with which a kubelet ends a command: clients read it whole. */
  commandStatusBytesMax: 64 * 1024,
  /** Longest refusal of a kubelet that becomes the message of a Status, as in kube-apiserver. */
  kubeletRefusalBytesMax: 50_000,
  /** A tunnel in which nothing is sent for this long is closed, as by a kubelet. */
  tunnelIdleMs: 4 * 60 * 60_000,
  /** Longest that a client may take to open the streams of an exec or of a forwarded connection, as by a kubelet. */
  streamOpeningMs: 30_000,
  /** Interval of bookmarks. */
  bookmarkIntervalMs: 60_000,
  /** Time of the last bookmark before the end of a watch. */
  lastBookmarkMs: 2_000,
  /** Shortest life of a watch without `timeoutSeconds`; the actual one is random up to twice this, so that clients do not return together. */
  watchLifeMs: 30 * 60_000,
  /** Seconds after which a client that is refused during shutdown is asked to return, as by kube-apiserver. */
  retryAfterAtEndSeconds: 5,
  /** Longest pause between two of them: a few clients may reconnect together, and a server with few watches stops at once. */
  watchEndPauseMs: 0.5,
  /** Once nothing more is written, connections have this long to take the last bytes before they are cut. */
  lastBytesMs: 1_000,
  /** A connection whose last answer could not announce that it was the last is closed after this pause: its client may be asking again. */
  leavingPauseMs: 200,
  /** Attempts of a write that lost the race to another one. Writers of one gateway take turns, so that each loses to other gateways alone. */
  writeAttemptsMax: 100,
  /** Generated names that are tried: eight characters hardly ever meet one that is taken. */
  generatedNamesMax: 5,
  /** Steps back through an object's past in search of a write whose answer was lost. */
  lostReplyStepsMax: 32,
  /**
   * Longest search for the outcome of a commit whose answer was lost. With the second that the commit itself had, this
   * is short of 3 s: a client that may ask another gateway should learn by then that nothing is known. An etcd elects a leader in that time.
   */
  lostReplyMs: 1_800,
  /** The same of a create that had no answer in time. It is only looked for; a slow store, or one that elects a leader, has written it by then. */
  lateCreateMs: 1_000,
  /**
   * The same for a lost connection: a sent request is written at once, or never. A silent replica of storage is left after 0.65 s, so
   * that the client learns within a second that nothing is known.
   */
  lostCreateMs: 200,
  /** Pause between two attempts to learn it. */
  lostReplyPauseMs: 50,
  /** Distinct `Accept` texts whose meaning is kept. */
  acceptTextsMax: 1_000,
  /** Characters of an `Accept` text whose meaning is cached; clients send some 200. A stranger's may have a million. */
  acceptTextLengthMax: 1_024,
  /** Protobuf items and Table rows that are kept: a list of 10,000 objects of 3 KB fits twice. */
  representationBytesMax: 64 * 1024 * 1024,
  /** Objects that are kept as their last writes have left them, by the bytes they are served as. Parsed they take some three times as much. */
  recentObjectsBytes: 2 * 1024 * 1024,
  /**
   * Budget of the readers made of the schemas of custom resources: the trees of some 800 definitions of 25 KB, with all readers of their objects.
   * The least recently used is forgotten, and made again when it is used.
   */
  schemaBytesMax: 64 * 1024 * 1024,
  /** Objects of one call of a conversion webhook: a page of a list as clients ask for it. */
  conversionObjectsMax: 500,
  /** Bytes of the objects of one call: a page of objects of 3 KB each; the answer may be half as long again. */
  conversionBytesMax: 2 * 1024 * 1024,
  /** JSON whose objects are made to Protobuf items at once: the 64 objects of 3 KB that storage gives at once fit. */
  itemsBytesAtOnce: 256 * 1024,
  /** JSON of a list that is made to CBOR in one turn of the event loop: some milliseconds. */
  cborBytesAtOnce: 64 * 1024,
  /** Pieces of a Protobuf list, some 64 objects each, that are only looked up before others get their turn: about a millisecond. */
  readyPiecesPerTurn: 16,
  /** Admission rules older than this are not trusted: every write asks. */
  admissionRulesAgeMsMax: 5_000,
  /** Longest wait for admission rules that include the object just written: admission sends them at once, at the latest every second. */
  admissionRulesWaitMsMax: 3_000,
  /** Calls of one phase of admission for one write; each plugin asks once, so more is a plugin that never has enough. */
  admissionCallsMax: 8,
  /** Longest path and query together; longer ones cannot name anything. */
  targetBytesMax: 64 * 1024,
  /** Characters of all warnings of one answer. Clients refuse heads of more than some 16 KiB. */
  warningsLengthMax: 4 * 1024,
  /** Characters of the header that explains a request; with the warnings it stays below clients' limits. */
  explainHeaderLengthMax: 8 * 1024,
  /** Phases of writes that an explanation holds; a request of more than one write deletes a collection. */
  explainedPhasesMax: 64,
  /** Steps of plugins and webhooks that an explanation tells: two rounds of all plugins and many webhooks. */
  explainedStepsMax: 256,
  /** Steps of an explanation that had to be shortened. */
  shortenedStepsMax: 16,
  /** Characters of a text in a shortened explanation, such as the name of a user. */
  shortenedTextMax: 128,
  /** Explanations of writes that are kept to be asked for: enough to find the one that one has just made. */
  explanationsKeptMax: 256,
  /** Characters of a message or reason of one that is kept; a message may repeat a client's body a hundred times. */
  keptTextMax: 4_096,
  /** Causes of a refusal that is kept. */
  keptCausesMax: 32,
  /** Characters of a patch that is kept; longer ones are shown only to the caller, as far as there is room. */
  keptPatchLengthMax: 16 * 1024,
  /** Characters to which each warning is cut where all together are too long. */
  cutWarningLengthMax: 256,
  /** Errors of one object that are listed; a body of 3 MiB may have so many that listing all would take sixty times its size. */
  fieldErrorsMax: 1_000,
  /** Bytes of an answer that are kept for its audit event; of a longer one the event says that it was cut. */
  auditAnswerBytesMax: 10 * 1024 * 1024,
  /** Bytes of bodies that may wait to be read for their events before further requests wait: some of the largest answers. */
  auditWaitingBytesMax: 64 * 1024 * 1024,
  /** Addresses that an audit event repeats from `X-Forwarded-For`. */
  auditSourcesMax: 16,
  /** Characters of a user agent in an audit event. */
  auditUserAgentLengthMax: 1024,
  /** Events that a blocking audit backend may owe before further requests wait: about the number in flight at once. */
  auditBlockedEventsMax: 1_000,
  /** Longest wait of a stopping server for a backend to take the remaining events; the others are lost and counted. */
  auditClosingMs: 10_000,
  /** Attempts to deliver a batch of audit events. */
  auditAttemptsMax: 5,
  /** Audit events that are lost before they are logged again. */
  auditLossesPerLine: 1_000,
  /** Answers of the authorization webhook that are remembered: about 1 KB each. */
  accessAnswersMax: 8_192,
  /** Characters of a question to the authorization webhook whose answer is remembered; paths and names may be made up, and long. */
  accessQuestionLengthMax: 10_000,
  /** Attempts to get an answer from the authorization webhook. */
  accessAttemptsMax: 5,
  /** Pause before the second attempt; each further one is half as long again. */
  accessRetryMs: 500,
  /** Wait of a read for a revision that its frozen cache has not reached, as kube-apiserver waits for its cache. */
  frozenWaitMs: 3_000,
  /** Faults of a test at a time. */
  faultsMax: 1_000,
  /** Faults of a test that have hit all that they could, and can still be asked for their hits. */
  endedFaultsMax: 1_000,
  /** Rows of one kind in the account of admission: any client may name webhooks and policies. */
  admissionRowsMax: 1_000,
  /** Bytes of a call of the control of a server. */
  controlBodyBytesMax: 1024 * 1024,
  /** Requests that the log of a test keeps: about 200 bytes each. */
  loggedRequestsMax: 10_000,
  /** Distinct texts of `User-Agent` that it shares among requests. */
  loggedAgentsMax: 256,
  /** Characters of a path or an agent that it keeps. */
  loggedTextMax: 1_000,
  /** Bytes of a body that it keeps where the control of the server shows them: objects have some kilobytes. */
  loggedBodyBytesMax: 64 * 1024,
  /** Bytes of all bodies that it keeps; the oldest give way to the next. */
  loggedBodiesBytesMax: 16 * 1024 * 1024,
  /** Kinds of requests of one user whose FlowSchema is remembered. */
  flowMatchesMax: 1_000,
  /** Characters of a client's texts in a key of flow control. Paths may have 64 KiB, and be made up. */
  flowKeyLengthMax: 512,
  /** Lists whose weight is cached; those that weigh no seat are not. */
  flowListsMax: 1_000,
  /** Bytes of a body that count as one seat; without the gate SizeBasedListCostEstimate, those of a list too. */
  flowBytesPerSeat: 256 * 1024,
  /** Bytes of a list that are worth a seat. */
  flowListBytesPerSeat: 100_000,
  /** Objects of a page that are worth a seat. */
  flowObjectsPerSeat: 100,
  /** Seats that one request takes at most; without the gate SizeBasedListCostEstimate, a list too. */
  flowSeatsPerRequestMax: 10,
  /** Seats that one list takes at most. */
  flowSeatsPerListMax: 100,
  /** A request waits for a seat no longer than this part of the time that it may take. */
  flowWaitPart: 1 / 4,
} as const
