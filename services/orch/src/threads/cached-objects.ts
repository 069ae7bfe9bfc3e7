import type { CommitRequest, Entry, GetResponse, StorageService } from '@orch/core/contracts'
import type { Revision } from '@orch/core/meta'
import { decodeStored, fillRevision, revisionBytes } from '@orch/core/stored'
import type { ObjectMarks } from './shared-memory.ts'

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
