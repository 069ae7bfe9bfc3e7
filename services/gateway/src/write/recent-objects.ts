import { resourcePrefix } from '@orch/core/contracts'
import { freezeDeeply, hasMembers } from '@orch/core/json'
import { type ApiObject, parseRevision, printRevision, type Revision } from '@orch/core/meta'
import { isSharedPart } from '@orch/core/schema'
import { type EncodedObject, fillRevision } from '@orch/core/stored'
import { readBytesOfOurs } from '../conversion/convert.ts'
import { limits } from '../limits.ts'

/** An object after a write, and its served bytes. */
interface RecentObject {
  readonly json: Uint8Array
  readonly object: ApiObject
}

/** An object that is being stored: watches may show it before storage answers. */
class AnnouncedObject {
  readonly object: ApiObject
  readonly #encoded: EncodedObject
  #filled: { readonly json: Uint8Array; readonly revision: Revision } | undefined

  constructor(object: ApiObject, encoded: EncodedObject) {
    this.object = object
    this.#encoded = encoded
  }

  /** The bytes with the revision in them, filled once. */
  jsonAt(revision: Revision): Uint8Array {
    if (this.#filled?.revision === revision) return this.#filled.json
    const json = fillRevision(this.#encoded.json, this.#encoded.hole, revision)
    this.#filled = { json, revision }
    return json
  }
}

/**
 * Caches objects after their writes, so that the next write need not parse them. The bytes are the only key, so writes of other objects have no
 * effect. Objects are shared and frozen.
 */
export class RecentObjects {
  readonly #objects = new Map<string, RecentObject>()
  readonly #announced = new Map<string, AnnouncedObject>()
  readonly #bytesMax: number
  /** Resources with a reader in this process. */
  readonly #followed = new Set<string>()
  #bytes = 0

  constructor(bytesMax = limits.recentObjectsBytes) {
    this.#bytesMax = bytesMax
  }

  /** The cached or announced object with these bytes at a revision. */
  find(key: string, json: Uint8Array, revision: Revision): ApiObject | undefined {
    const known = this.#objects.get(key)
    if (known !== undefined && Buffer.compare(known.json, json) === 0) return known.object
    const announced = this.#announced.get(key)
    if (announced === undefined || Buffer.compare(announced.jsonAt(revision), json) !== 0) return undefined
    return this.remember(key, announced.jsonAt(revision), withRevision(announced.object, revision))
  }

  /** The object of stored bytes for readers in this process. It is read once for all of them, and for the next write. */
  read(key: string, json: Uint8Array, revision: Revision): ApiObject {
    const found = this.find(key, json, revision)
    if (found !== undefined) return found
    this.#followed.add(resourcePrefix(key))
    const { object, hasBigIntegers } = readBytesOfOurs(json)
    // Readers expect numbers, not bigints.
    if (hasBigIntegers) return JSON.parse(Buffer.from(json).toString())
    return json.length < limits.largeBytesMin && this.#isNewer(key, revision) ? this.remember(key, json, object) : object
  }

  /** True if new objects beside this key are read in this process soon after their writes. */
  isFollowed(key: string): boolean {
    return this.#followed.has(resourcePrefix(key))
  }

  /** Announces an object that is being stored. It must be confirmed or withdrawn when storage has answered. */
  announce(key: string, object: ApiObject, encoded: EncodedObject): AnnouncedObject {
    const announced = new AnnouncedObject(object, encoded)
    this.#announced.set(key, announced)
    return announced
  }

  /** The object is stored: it is cached, if no watch has shown it before. Returns its bytes, and the cached object unless a later state is cached. */
  confirm(key: string, announced: AnnouncedObject, revision: Revision): Pick<RecentObject, 'json'> & Partial<RecentObject> {
    const json = announced.jsonAt(revision)
    const known = this.#objects.get(key)
    if (known?.json === json) return known
    return this.#isNewer(key, revision) ? { json, object: this.remember(key, json, withRevision(announced.object, revision)) } : { json }
  }

  withdraw(key: string, announced: AnnouncedObject): void {
    if (this.#announced.get(key) === announced) this.#announced.delete(key)
  }

  /** Caches an object, the bytes with the revision in them. The oldest is forgotten first. */
  remember(key: string, json: Uint8Array, object: ApiObject): ApiObject {
    this.forget(key)
    this.#objects.set(key, { json, object: freezeDeeply(object) })
    this.#bytes += json.length
    for (const oldest of this.#objects.keys()) {
      if (this.#bytes <= this.#bytesMax) break
      this.forget(oldest)
    }
    return object
  }

  /** True if no state of this revision or a later one is cached. */
  #isNewer(key: string, revision: Revision): boolean {
    const known = this.#objects.get(key)
    return known === undefined || (parseRevision(known.object.metadata.resourceVersion ?? '') ?? 0) < revision
  }

  /** The object was deleted or replaced. */
  forget(key: string): void {
    const known = this.#objects.get(key)
    if (known === undefined) return
    this.#bytes -= known.json.length
    this.#objects.delete(key)
  }
}

/** Maximum depth of a cached object. */
const readDepthMax = 100

/**
 * True if reading the object's JSON gives the same value: it has no integers beyond 2^53, and no member without a value. `before` has
 * been read from JSON; the parts that it shares with the object, and shared Pod specs, are skipped. False also for values that are deeper than any of ours.
 */
export function isAsRead(value: unknown, before: unknown, depth = 0): boolean {
  if (value === undefined || typeof value === 'bigint' || depth > readDepthMax) return false
  if (value === before || !hasMembers(value) || (Object.isFrozen(value) && isSharedPart(value))) return true
  const former = hasMembers(before) ? before : undefined
  // Not `for (const key in value)`: V8 would compile that loop again for each shape of the values.
  for (const key of Object.keys(value)) if (!isAsRead(value[key], former?.[key], depth + 1)) return false
  return true
}

/** The object as it will be read once it is stored. */
export function withRevision(object: ApiObject, revision: Revision): ApiObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion: printRevision(revision) } }
}
