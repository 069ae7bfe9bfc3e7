/** Limits of storage, each with the reason for its number. */
export const limits = {
  /** The interval at which the window records a changing revision of the store. Compaction is late by at most this time. */
  windowNoteIntervalMs: 30_000,
  /** The default retention of changes; continue tokens and watches can resume within it. */
  watchHistoryMsDefault: 300_000,
  /** The most bytes of changes that memory keeps for resumed watches and later pages; older changes come from the store. */
  historyBytesMax: 64 * 1024 * 1024,
  /** Bytes of changes that memory always keeps, even for a small state. */
  historyBytesMin: 16 * 1024 * 1024,
  /** Above that, changes may use this share of the objects' size. */
  historyPart: 1 / 4,
  /** Maximum bytes of superseded objects in a store without a disk, at any age, so that writes do not fill the memory. */
  pastBytesMax: 128 * 1024 * 1024,
  /** The cost of a superseded object in addition to its bytes, before compression. */
  pastOverheadBytes: 300,
  /** Bytes of entries in one page of a log in memory. Larger pages compress better, but a reader of one entry unpacks a whole page: 0.1 ms. */
  logPageBytes: 64 * 1024,
  /** Entries in one page, however large, so that versions of a large object compress together; and the most bytes of such a page. */
  logPageEntries: 16,
  largeLogPageBytes: 1024 * 1024,
  /** The size of a new page, which grows up to `logPageBytes`. */
  firstLogPageBytes: 4 * 1024,
  /** Bytes of the newest entries of a log in memory that are not compressed: most test servers end earlier. */
  plainLogBytesMax: 4 * 1024 * 1024,
  /** The most unpacked pages that one turn of the event loop keeps. */
  unpackedPagesMax: 64,
  /** Changes in one part of a stream: large enough to amortize a turn, small enough not to delay a turn. */
  changesPerPart: 1_000,
  /** The past changes that one read of the store returns; a second read returns all their earlier contents. */
  pastChangesAtOnce: 16,
  /** A part of the past ends after this many bytes of objects. Memory holds a part until its reader has taken it. */
  pastBytesPerPart: 1024 * 1024,
  /** Bytes of past objects that one turn of the event loop makes for all readers; a megabyte takes about 5 ms. */
  pastBytesPerTurn: 2 * 1024 * 1024,
  /** Objects that a restore writes or deletes in one turn of the event loop: a thousand take about 5 ms. */
  restoredPerTurn: 5_000,
  /** The longest wait of a read for a revision that has not arrived yet. */
  revisionWaitMs: 3_000,
  /** The longest wait of a read of present memory during a refill; less than the second in which gateways expect an answer. */
  fillingWaitMs: 800,
  /** The time from a change, or from the start of a stream, to a position for the streams that lack it. */
  positionIntervalMs: 1_000,
  /** Bytes of a list's part that is joined from single objects: socket writes are cheapest at 64 to 256 KiB. */
  chunkBytes: 128 * 1024,
  /** The most bytes of neighbours that are joined into one piece; a larger object is a separate piece. */
  joinedBytesMax: 1024 * 1024,
  /** Objects in one part of a list in the form `entries`. */
  entriesPerPart: 256,
  /** Such a part ends after this many bytes of objects. A reader in another process holds the whole part while it uses one object of it. */
  entriesPartBytes: 512 * 1024,
  /** The longest key in bytes; LMDB accepts 1978 with its own encoding. */
  keyBytesMax: 1_900,
  /** The largest stored object in bytes, as in etcd. Without a bound, successive patches could make an object that takes minutes to patch. */
  valueBytesMax: 1.5 * 1024 * 1024,
  /** Bytes of objects after which an answer of the history ends; the changes may need one object more. One turn reads an eighth. */
  historyPageBytes: 2 * 1024 * 1024,
  /** The records of one read of the store, at the start or for its past. */
  storePageRecords: 1_000,
  /** The log entries that one step of a compaction reads, so that writes get a turn in between. */
  compactionStepEntries: 2_000,
  /** Bytes of entries after which such a step of a store in memory ends: each removed entry may be in another page, which is then rewritten. */
  compactionStepBytes: 64 * 1024,
  /** Blocks of the data file reserved for deletions and compaction, which make room on a full disk. */
  reserveBytes: 1024 * 1024,
  /** The data file grows by an eighth of its size within these bounds: rarely, and never for long. */
  fileGrowthBytesMin: 1024 * 1024,
  fileGrowthBytesMax: 16 * 1024 * 1024,
  /** Bytes that one call writes while the data file grows. */
  zeroBytesPerWrite: 1024 * 1024,
  /** Expired objects deleted before the event loop gets its turn again. */
  expiriesPerTurn: 256,
  /** While the store refuses writes, it tries at this interval whether it can write again. */
  refusingRetryMs: 1_000,
  /** The number of remembered write ids; at least half are kept. A client repeats a write with a lost answer within moments or never. */
  rememberedWritesMax: 32_768,
  /** Written objects are stored in buffers of this size: about 80 objects of 3 KB. */
  slabBytes: 256 * 1024,
  /** Bytes of a server's first such buffer; each further buffer is twice as large, up to that size. */
  firstSlabBytes: 8 * 1024,
  /** The store reads larger objects when a request first needs them, if it can read them synchronously. */
  unreadBytesMin: 16 * 1024,
  /** Bytes of a value's beginning in the data file's index: the part before the JSON of most objects. */
  frontBytesMax: 512,
  /** Entries with longer keys have no beginning: with both, LMDB would put the entry on a separate page. */
  frontKeyBytesMax: 1_024,
  /** The delay after a start before the store reads objects of that size without a request: until then the start needs the event loop. */
  unreadCheckDelayMs: 1_000,
  /** Bytes of values that one step checks against their checksums, and the interval of the steps. A megabyte takes 1 ms. */
  unreadBytesPerCheck: 1024 * 1024,
  unreadCheckIntervalMs: 50,
  /** Memory is compacted when this much, and as much as all objects have, has been written since the last time. */
  tidyAtLeastBytes: 32 * 1024 * 1024,
  /** Leaves, or parts of leaves, that are compacted in one turn of the event loop. */
  piecesTidiedPerTurn: 64,
  /** The longest time of one call to etcd; etcd gives up after seven seconds. */
  etcdCallTimeoutMs: 8_000,
  /**
   * The time for which the store asks members about the result of an uncertain commit. A late answer is better than none, but callers wait no longer than
   * a minute.
   */
  etcdOutcomeWaitMs: 20_000,
  /**
   * The longest time of a member for a call about few keys, which usually takes milliseconds; then the store repeats the call or asks another member.
   * Callers of storage wait for a second.
   */
  etcdMemberTimeoutMs: 1_000,
  /**
   * Number of callers that share one request for etcd's latest revision, above which the next request waits: a time for each caller, up to a limit.
   * With 64 readers etcd gets half as many requests as with 2 ms, which saved a tenth of a get's CPU, and more of etcd's.
   */
  latestSharersMany: 4,
  latestPauseMsEach: 0.25,
  latestPauseMsMax: 4,
  /** The interval of etcd's probes: after one second this replica knows, and reports to callers, whether it can serve. */
  etcdCheckMs: 1_000,
  /** Successive calls without an answer after which a new connection replaces this one. The first call may meet an election. */
  etcdFailuresMax: 2,
  /** The longest pause before a reconnection: the store uses etcd within a second after etcd answers. */
  etcdRedialMsMax: 250,
  /** Interval of probes of an unavailable member. */
  etcdMemberLookMs: 1_000,
  /** Attempts of a call that has no effect, or has it at most once, when a member of etcd is unavailable. */
  etcdAttemptsMax: 4,
  /** The pause before the next attempt, times the number of the attempt; by then another member or the next leader is available. */
  etcdAttemptDelayMs: 60,
  /** The longest wait of a commit for its own change; after it, the outcome is unknown. */
  etcdDeliveryWaitMs: 8_000,
  /** A watch without events for this time, although etcd has some, is reopened, perhaps at another member. */
  etcdWatchPatienceMs: 1_500,
  /** The pause for reading received data of etcd, if this process was too busy before. */
  etcdWatchLastLookMs: 100,
  /** The longest wait of a request for a lost watch to reopen; after it, the request is refused temporarily. */
  etcdReopenWaitMs: 1_000,
  /** The longest time in which etcd opens a watch. */
  etcdWatchOpenMs: 2_000,
  /** Retry-After of an unavailable store: a lost connection reopens within that time. */
  unavailableRetrySeconds: 1,
  /** The longest pause before a lost watch is reopened. */
  etcdReconnectDelayMsMax: 250,
  /** The longest wait of a start for etcd. */
  etcdStartWaitMs: 60_000,
  /** The target size of a page of a range: pages of small objects have the most records, and pages of large objects fewer. */
  etcdPageBytes: 8 * 1024 * 1024,
  /** The number of remembered revisions, so that each change can name its predecessor: 8 bytes each. */
  changeRevisionsMax: 1_000_000,
  /** The interval of requests for the size of etcd's database and its alarms. */
  etcdStatusIntervalMs: 10_000,
  /** The bytes that etcd may send on a connection before this process has read them. HTTP/2's default of 64 KiB holds nine changes of 7 KB. */
  etcdWindowBytes: 1024 * 1024,
  /** The silence after which a connection is pinged, and the time for the answer; etcd disconnects clients that ping more often than every 5 s. */
  etcdKeepaliveMs: 10_000,
  etcdKeepaliveTimeoutMs: 5_000,
  /** The longest silence of a leader before an election. */
  leadershipSeconds: 10,
  /** The interval at which a candidate checks whether it leads, in addition to the watch. */
  leadershipLookMs: 2_000,
  /** The longest lag of memory behind a latest read before the store is asked for its revision. */
  behindPatienceMs: 10,
  /** The pause between attempts to reload the state. */
  reloadDelayMs: 500,
  /** The delay between a compaction and the comparison of memory with the store: a loss shows within moments. */
  auditDelayMs: 2_000,
  /** The interval of comparisons of memory with a store to which others also write. */
  consistencyCheckMs: 300_000,
  /** The longest time that a stopping replica waits to revoke its lease; without an answer the lease expires. */
  leaseReturnMs: 1_000,
  /** The size of the pieces in which a backup is written and read. */
  backupChunkBytes: 1024 * 1024,
  /** The values that a restore writes with one flush. */
  restoreBatchBytes: 4 * 1024 * 1024,
  /** The distance of a restored folder's revisions from the backup's: no server has used as many between the two. */
  restoredRevisionJump: 1_000_000_000,
  /** The distance of an etcd's revisions from the backup's, for an etcd whose revisions are not those of the backup. */
  restoredEtcdRevisionMargin: 100_000,
  /** The concurrent writes of a restore to etcd. */
  restoreEtcdWritesAtOnce: 64,
}
