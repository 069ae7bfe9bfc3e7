/** Interval of the window's notes of the store's revision. Compaction is late by this much at most. */
export const windowNoteIntervalMs = 30_000

/** Default retention of changes: continue tokens and watches resume within it. */
export const watchHistoryMsDefault = 300_000

/** Most bytes of changes that memory keeps for resumed watches and later pages; older ones come from the store. */
export const historyBytesMax = 64 * 1024 * 1024

/** Bytes of changes that are kept for any size of the state. */
export const historyBytesMin = 16 * 1024 * 1024

/** Beyond that, changes may take this part of the objects' size. */
export const historyPart = 1 / 4

/** Superseded objects that a store without a disk keeps, however young they are: writes may not fill the memory. */
export const pastBytesMax = 128 * 1024 * 1024

/**
 * Superseded objects that wait to be packed while objects are written, and the part of the room for the past that they may take:
 * packing costs a tenth of a write, and most servers of tests end before.
 */
export const unpackedBytesMax = 32 * 1024 * 1024
export const unpackedPart = 1 / 8

/** A state in which nothing was written for so long is at rest, and packs what waits. */
export const packingDelayMs = 1_000

/** Objects that are packed in one turn: a millisecond. */
export const packedPerTurn = 16

/** The cost of a superseded object besides its bytes. */
export const pastOverheadBytes = 600

/** Changes in one part of a stream: large enough to amortize a turn, small enough not to hold one up. */
export const changesPerPart = 1_000

/** Changes of the past that are read from the store at once, whose contents before them are asked for together. */
export const pastChangesAtOnce = 16

/** Bytes of objects after which a part of the past ends: a reader's untaken part is in memory for that reader alone. */
export const pastBytesPerPart = 1024 * 1024

/** Bytes of objects of the past that are made in one turn of the event loop, over all readers; a megabyte takes some 5 ms. */
export const pastBytesPerTurn = 2 * 1024 * 1024

/** Longest wait of a read for a revision that has not arrived yet. */
export const revisionWaitMs = 3_000

/** Longest wait of a read of the present memory while memory is being filled; less than the second in which gateways expect an answer. */
export const fillingWaitMs = 800

/** Interval of a stream's positions, so that a lost tail is noticed within a second. */
export const positionIntervalMs = 1_000

/** Bytes of a list's part that is put together from single objects: socket writes are cheapest at 64 to 256 KiB. */
export const chunkBytes = 128 * 1024

/** Most bytes of neighbours that are joined into one piece; an object that is larger is a piece of its own. */
export const joinedBytesMax = 1024 * 1024

/** Objects in one part of a list in the form `entries`. */
export const entriesPerPart = 256

/** Bytes of objects after which such a part ends: a reader apart holds all of a part while it holds one of its objects. */
export const entriesPartBytes = 512 * 1024

/** Bytes that a key may have; LMDB takes 1978 with its own encoding. */
export const keyBytesMax = 1_900

/** Bytes of a stored object: etcd's bound. Without a bound, patch after patch could make an object that takes minutes to patch. */
export const valueBytesMax = 1.5 * 1024 * 1024

/** Bytes of objects after which an answer of the history ends; its changes may ask for one object more. An eighth is read in one turn. */
export const historyPageBytes = 2 * 1024 * 1024

/** Records read from the store at once, when it is loaded or its past is asked. */
export const storePageRecords = 1_000

/** Log entries looked at by one step of a compaction, so that writes get their turn in between. */
export const compactionStepEntries = 2_000

/** Blocks of the data file written ahead for deletions and compaction, which make room where the disk is full. */
export const reserveBytes = 1024 * 1024

/** When the data file is extended, it is by an eighth of itself within these bounds: rarely, and never for long. */
export const fileGrowthBytesMin = 1024 * 1024
export const fileGrowthBytesMax = 16 * 1024 * 1024

/** Bytes that one call writes when the data file is extended. */
export const zeroBytesPerWrite = 1024 * 1024

/** Expired objects deleted before the event loop gets its turn again. */
export const expiriesPerTurn = 256

/** While writes are refused, one attempt to write again is made this often. */
export const refusingRetryMs = 1_000

/** Writes that are remembered by their id, of which at least half: a write whose answer was lost is asked again within moments or never. */
export const rememberedWritesMax = 32_768

/** Objects that are written get their room from buffers of this size: about 80 objects of 3 KB. */
export const slabBytes = 256 * 1024

/** Bytes of the first such buffer of a server; each further one is twice as large, up to that size. */
export const firstSlabBytes = 8 * 1024

/** Larger objects are read when they are first needed, where the store can give them at once. */
export const unreadBytesMin = 16 * 1024

/** Bytes of a value's beginning in the index of the data file: the part before the JSON of most objects. */
export const frontBytesMax = 512

/** Entries of longer keys have none: with both, LMDB would put the entry on a page of its own. */
export const frontKeyBytesMax = 1_024

/** Delay after a start before objects of that size are read unasked: until then the start needs the event loop. */
export const unreadCheckDelayMs = 1_000

/** Bytes of values that are read at once to check them against their checksums, and the interval. A megabyte takes 1 ms. */
export const unreadBytesPerCheck = 1024 * 1024
export const unreadCheckIntervalMs = 50

/** Memory is tidied when this much, and as much as all objects have, has been written since the last time. */
export const tidyAtLeastBytes = 32 * 1024 * 1024

/** Pieces of the tree, leaves or parts of them, that are tidied in one turn of the event loop. */
export const piecesTidiedPerTurn = 64

/** Longest that one call to etcd may take; etcd itself gives up after seven seconds. */
export const etcdCallTimeoutMs = 8_000

/** Time for which members are asked about the result of an uncertain commit. A late answer is better than none, but callers wait no longer than a minute. */
export const etcdOutcomeWaitMs = 20_000

/**
 * Longest that a member may take for a call that looks at few keys, which takes milliseconds as a rule; then it is asked again, or
 * another one is. Callers of storage wait for a second themselves.
 */
export const etcdMemberTimeoutMs = 1_000

/**
 * Number of readers sharing one question for etcd's latest revision from which the next one waits: a time for each of them, within a bound.
 * With 64 readers it is asked half as often as with 2 ms, which took a tenth off the CPU of a get, and more off etcd's.
 */
export const latestSharersMany = 4
export const latestPauseMsEach = 0.25
export const latestPauseMsMax = 4

/** Interval of etcd's probes: after one second this replica knows, and reports to callers, whether it can serve. */
export const etcdCheckMs = 1_000

/** Calls in a row that end without an answer until the connection is given up for a new one. The first may meet an election. */
export const etcdFailuresMax = 2

/** Longest pause before a lost connection is tried again: etcd is used again within a second after it answers. */
export const etcdRedialMsMax = 250

/** Interval of probes of an unavailable member. */
export const etcdMemberLookMs = 1_000

/** Attempts of a call that has no effect, or can have it only once, when a member of etcd is unavailable. */
export const etcdAttemptsMax = 4

/** Pause before the next attempt, times the number of the attempt; another member, or the next leader, is there by then. */
export const etcdAttemptDelayMs = 60

/** Longest wait of a commit for its own change to arrive; then its outcome is reported as unknown. */
export const etcdDeliveryWaitMs = 8_000

/** A watch that shows nothing for so long, though etcd has something to show, is opened again, perhaps at another member. */
export const etcdWatchPatienceMs = 1_500

/** Pause for reading arrived data of etcd, should this process have been too busy to do so. */
export const etcdWatchLastLookMs = 100

/** Longest that a request waits for a lost watch to be open again, before it is refused for the moment. */
export const etcdReopenWaitMs = 1_000

/** Longest that etcd may take to open a watch. */
export const etcdWatchOpenMs = 2_000

/** Retry-After of a store that is away: a lost connection is opened again within that time. */
export const unavailableRetrySeconds = 1

/** Longest pause before a lost watch is opened again. */
export const etcdReconnectDelayMsMax = 250

/** Longest that a start waits for etcd to be there. */
export const etcdStartWaitMs = 60_000

/** Aimed size of a page of a range: pages of small objects have the most records, those of large ones fewer. */
export const etcdPageBytes = 8 * 1024 * 1024

/** Revisions of changes that are remembered, so that each change can name the one before it: 8 bytes each. */
export const changeRevisionsMax = 1_000_000

/** Interval of requests for the size of etcd's database and its alarms. */
export const etcdStatusIntervalMs = 10_000

/** Bytes that a connection to etcd carries to us before we have taken them. The 64 KiB that HTTP/2 begins with hold nine changes of 7 KB. */
export const etcdWindowBytes = 1024 * 1024

/** Silence on a connection after which it is tested, and the time for the answer; etcd ends clients that test oftener than every 5 s. */
export const etcdKeepaliveMs = 10_000
export const etcdKeepaliveTimeoutMs = 5_000

/** Longest silence of a leader before another is elected. */
export const leadershipSeconds = 10

/** Interval of a candidate's checks that it leads, besides watching for changes. */
export const leadershipLookMs = 2_000

/** Longest lag of memory behind a latest read before the store is asked for its revision. */
export const behindPatienceMs = 10

/** Pause between attempts to read the state anew. */
export const reloadDelayMs = 500

/** Delay between a compaction and the comparison of memory with the store: a loss shows within moments. */
export const auditDelayMs = 2_000

/** Interval of comparisons of memory with a store that others write to as well. */
export const consistencyCheckMs = 300_000

/** Longest that a replica that ends waits for giving its lease back; without an answer the lease ends by itself. */
export const leaseReturnMs = 1_000

/** A backup is written to the disk, and read from it, in pieces of this size. */
export const backupChunkBytes = 1024 * 1024

/** Values that a restore writes with one flush. */
export const restoreBatchBytes = 4 * 1024 * 1024

/** Distance of a restored folder's revisions from the backup's: no server has given out as many between the two. */
export const restoredRevisionJump = 1_000_000_000

/** Distance of an etcd's revisions from the backup's, for an etcd whose own revisions are not those of the backup. */
export const restoredEtcdRevisionMargin = 100_000

/** Writes to etcd that a restore has under way at once. */
export const restoreEtcdWritesAtOnce = 64
