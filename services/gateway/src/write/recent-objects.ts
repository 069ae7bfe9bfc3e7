import { freezeDeeply, hasMembers } from '@orch/core/json'
import { type ApiObject, parseRevision, printRevision, type Revision } from '@orch/core/meta'
import { readBytesOfOurs } from '../conversion/convert.ts'
import { limits } from '../limits.ts'

/** An object after a write, and its served bytes. */
interface RecentObject {
  readonly json: Uint8Array
  readonly object: ApiObject
}

/**
 * Caches objects after their writes, so that the next write need not parse them. The bytes are the only key, so writes of other objects have no
 * effect. Objects are shared and frozen.
 */
export class RecentObjects {
  readonly #objects = new Map<string, RecentObject>()
  readonly #bytesMax: number
  #bytes = 0

  constructor(bytesMax = limits.recentObjectsBytes) {
    this.#bytesMax = bytesMax
  }

  /** The object that these bytes are, if it is known. */
  find(key: string, json: Uint8Array): ApiObject | undefined {
    const known = this.#objects.get(key)
    return known !== undefined && Buffer.compare(known.json, json) === 0 ? known.object : undefined
  }

  /** The object of stored bytes for readers in this process. It is read once for all of them, and for the next write. */
  read(key: string, json: Uint8Array): ApiObject {
    const found = this.find(key, json)
    if (found !== undefined) return found
    const { object, hasBigIntegers } = readBytesOfOurs(json)
    // Readers count with numbers.
    if (hasBigIntegers) return JSON.parse(Buffer.from(json).toString())
    const known = this.#objects.get(key)?.object
    if (json.length < limits.largeBytesMin && (known === undefined || versionOf(known) < versionOf(object)))
      this.remember(key, json, object)
    return object
  }

  /** Caches a written object, the bytes with the revision in them. The oldest is forgotten first. */
  remember(key: string, json: Uint8Array, object: ApiObject): void {
    this.forget(key)
    this.#objects.set(key, { json, object: freezeDeeply(object) })
    this.#bytes += json.length
    for (const oldest of this.#objects.keys()) {
      if (this.#bytes <= this.#bytesMax) return
      this.forget(oldest)
    }
  }

  /** The object was deleted or replaced. */
  forget(key: string): void {
    const known = this.#objects.get(key)
    if (known === undefined) return
    this.#bytes -= known.json.length
    this.#objects.delete(key)
  }
}

function versionOf({ metadata }: ApiObject): number {
  return parseRevision(metadata.resourceVersion ?? '') ?? 0
}

/** Levels that are looked at. */
const readDepthMax = 100

/**
 * True if reading the object's JSON gives the same value: it has no integers beyond 2^53, and no member without a value. `before` has
 * been read from JSON; the parts that it shares with the object are skipped. False also for values that are deeper than any of ours.
 */
export function isAsRead(value: unknown, before: unknown, depth = 0): boolean {
  if (value === undefined || typeof value === 'bigint' || depth > readDepthMax) return false
  if (value === before || !hasMembers(value)) return true
  const former = hasMembers(before) ? before : undefined
  // V8 would compile a loop over `Object.keys` with `in` again for each shape of the values.
  for (const key of Object.keys(value)) if (!isAsRead(value[key], former?.[key], depth + 1)) return false
  return true
}

/** The object as it will be read once it is stored. */
export function withRevision(object: ApiObject, revision: Revision): ApiObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion: printRevision(revision) } }
}
