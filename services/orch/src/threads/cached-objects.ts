import type { CommitRequest, Entry, GetResponse, StorageService } from '@orch/core/contracts'
import type { Revision } from '@orch/core/meta'
import { decodeStored, fillRevision, revisionBytes } from '@orch/core/stored'

/** The bytes that a thread caches of objects that it has read singly. */
const knownBytesMax = 8 * 1024 * 1024

interface Known {
  readonly mark: number
  readonly answer: GetResponse
  readonly bytes: number
}

/** Storage in another thread. A read of an object that has not changed since its last read, or that this thread changed last, sends no request. */
export function withKnownObjects(storage: StorageService, marks: ObjectMarks, bytesMax: number = knownBytesMax): StorageService {
  const known = new Map<string, Known>()
  let bytes = 0
  const forget = (key: string) => {
    bytes -= known.get(key)?.bytes ?? 0
    known.delete(key)
  }
  const keep = (mark: number, entry: Entry, answer: GetResponse) => {
    const { key } = entry
    forget(key)
    known.set(key, { mark, answer: { ...answer, entry }, bytes: entry.value.length + key.length })
    bytes += entry.value.length + key.length
    for (const first of known.keys()) {
      if (bytes <= bytesMax) break
      forget(first)
    }
  }
  return {
    ...storage,
    async get(request, context) {
      const { key, read } = request
      if (read.kind !== 'latest' && read.kind !== 'any') return await storage.get(request, context)
      // Reads the mark before the request: a change in between changes the mark.
      const mark = marks.of(key)
      const found = known.get(key)
      if (found?.mark === mark) return found.answer
      const answer = await storage.get(request, context)
      // An absent object has no mark until it exists.
      const { entry } = answer
      // A separate copy: the bytes are part of a message with others.
      if (entry !== undefined && answer.isStale !== true) keep(mark, { ...entry, value: Buffer.from(entry.value) }, answer)
      else forget(key)
      return answer
    },
    async commit(request, context) {
      const { key, value } = request
      const mark = marks.of(key)
      const before = known.get(key)
      const outcome = await storage.commit(request, context)
      if (outcome.kind !== 'written' || value === undefined || before?.mark !== mark) return outcome
      // The commit itself has incremented the mark: without a further increment the object is the committed object.
      const ownMark = marks.after(mark)
      const { revision } = outcome
      if (marks.of(key) === ownMark) keep(ownMark, entryOf({ key, value }, revision), { ...before.answer, revision })
      return outcome
    },
  }
}

/** Storage's answer about a committed object. */
function entryOf({ key, value }: Pick<CommitRequest, 'key'> & { readonly value: Uint8Array }, revision: Revision): Entry {
  const { json, hole, metadataStart, metadataEnd, writeId, fingerprint } = decodeStored(value)
  return {
    key,
    revision,
    value: fillRevision(json, hole, revision),
    metadataStart,
    metadataEnd: metadataEnd + revisionBytes(revision),
    writeId,
    fingerprint,
  }
}

/** The number of marks. A change of one object also invalidates the others with its mark. */
const marksMax = 65_536

/**
 * Counters in memory that all threads share; several keys share one. The first thread increments a counter when an object is replaced or deleted,
 * before any reader can see that. While the counter is unchanged, an object that was read after it is current.
 */
export class ObjectMarks {
  readonly memory: SharedArrayBuffer
  readonly #counts: Int32Array

  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(marksMax * Int32Array.BYTES_PER_ELEMENT)) {
    this.memory = memory
    this.#counts = new Int32Array(memory)
  }

  /** Marks the key's object as replaced or deleted. */
  count(key: string): void {
    Atomics.add(this.#counts, this.#placeOf(key), 1)
  }

  /** The value of a mark after one of its objects was replaced or deleted. */
  after(mark: number): number {
    return (mark + 1) | 0
  }

  /** The mark of a key. */
  of(key: string): number {
    return Atomics.load(this.#counts, this.#placeOf(key))
  }

  /** FNV-1a. */
  #placeOf(key: string): number {
    let hash = 0x811c9dc5
    for (let index = 0; index < key.length; index += 1) hash = Math.imul(hash ^ key.charCodeAt(index), 0x01000193)
    return (hash >>> 0) % this.#counts.length
  }
}
