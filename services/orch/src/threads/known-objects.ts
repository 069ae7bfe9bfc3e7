import type { GetResponse, StorageService } from '@orch/core/contracts'
import type { ObjectMarks } from './object-marks.ts'

/** Bytes of objects that a thread keeps of those that it has read one by one. */
const knownBytesMax = 8 * 1024 * 1024

interface Known {
  readonly mark: number
  readonly answer: GetResponse
  readonly bytes: number
}

/** Storage in another thread, which is not asked again for an object that has not changed since it was read. */
export function withKnownObjects(storage: StorageService, marks: ObjectMarks, bytesMax: number = knownBytesMax): StorageService {
  const known = new Map<string, Known>()
  let bytes = 0
  const forget = (key: string) => {
    bytes -= known.get(key)?.bytes ?? 0
    known.delete(key)
  }
  const keep = (key: string, mark: number, answer: GetResponse & Required<Pick<GetResponse, 'entry'>>) => {
    forget(key)
    // A copy of its own: the bytes are part of a message with others.
    const { entry } = answer
    const kept = { ...answer, entry: { ...entry, value: Buffer.from(entry.value) } }
    known.set(key, { mark, answer: kept, bytes: entry.value.length + key.length })
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
      // Read before the question: a change that comes in between makes the mark another one.
      const mark = marks.of(key)
      const found = known.get(key)
      if (found?.mark === mark) return found.answer
      const answer = await storage.get(request, context)
      // An object that is absent has no change that could be marked until it is there.
      if (hasEntry(answer) && answer.isStale !== true) keep(key, mark, answer)
      else forget(key)
      return answer
    },
  }
}

function hasEntry(answer: GetResponse): answer is GetResponse & Required<Pick<GetResponse, 'entry'>> {
  return answer.entry !== undefined
}
