import type { Entry } from '@orch/core/contracts'

/** Consecutive objects of a list, and their bytes separated by commas. */
export interface KnownPart {
  readonly entries: readonly Entry[]
  readonly joined: Buffer
}

interface Kept extends KnownPart {
  readonly resource: string
  readonly name: string
}

/**
 * Parts of lists that a thread has read, within a bound of bytes; the least recently used part is dropped first. A revision identifies one state of
 * one object, so objects and parts are found by revisions.
 */
export class KnownParts {
  readonly #bytesMax: number
  readonly #parts = new Map<string, Kept>()
  /** Parts by the storage prefix of their resource. */
  readonly #objects = new Map<string, Map<number, { readonly entry: Entry; readonly part: Kept }>>()
  #bytes = 0
  #epoch = ''

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  /** The epoch of the revisions. */
  get epoch(): string {
    return this.#epoch
  }

  /** Drops everything if the epoch has changed, because revisions of another epoch identify other objects. */
  begin(epoch: string): void {
    if (epoch === this.#epoch) return
    this.#parts.clear()
    this.#objects.clear()
    this.#bytes = 0
    this.#epoch = epoch
  }

  /** The cached objects of a resource with this key prefix, from the start on, by revision. */
  objectsOf(resource: string, { prefix, start }: { readonly prefix: string; readonly start: string }): ReadonlyMap<number, Entry> {
    const found = new Map<number, Entry>()
    for (const [revision, { entry }] of this.#objects.get(resource) ?? []) {
      if (entry.key.startsWith(prefix) && entry.key >= start) found.set(revision, entry)
    }
    return found
  }

  /** The part with exactly these objects; created if it is not cached. */
  partOf(resource: string, entries: readonly Entry[]): KnownPart {
    const name = `${resource} ${entries.map(({ revision }) => revision).join()}`
    const kept = this.#parts.get(name)
    if (kept !== undefined) {
      this.#parts.delete(name)
      this.#parts.set(name, kept)
      return kept
    }
    const part: Kept = { ...joined(entries), resource, name }
    this.#parts.set(name, part)
    this.#bytes += part.joined.length
    const ofResource = this.#objects.get(resource) ?? new Map()
    this.#objects.set(resource, ofResource)
    for (const entry of part.entries) ofResource.set(entry.revision, { entry, part })
    for (const oldest of this.#parts.values()) {
      if (this.#bytes <= this.#bytesMax) break
      this.#forget(oldest)
    }
    return part
  }

  #forget(part: Kept): void {
    this.#parts.delete(part.name)
    this.#bytes -= part.joined.length
    const ofResource = this.#objects.get(part.resource)
    for (const { revision } of part.entries) if (ofResource?.get(revision)?.part === part) ofResource.delete(revision)
    if (ofResource?.size === 0) this.#objects.delete(part.resource)
  }
}

const comma = Buffer.from(',')

/** The objects with one buffer for all their bytes. */
function joined(entries: readonly Entry[]): KnownPart {
  const joined = Buffer.concat(entries.flatMap(({ value }, index) => (index === 0 ? [value] : [comma, value])))
  let at = 0
  const own = entries.map((entry) => {
    const value = joined.subarray(at, at + entry.value.length)
    at += entry.value.length + comma.length
    return { ...entry, value }
  })
  return { entries: own, joined }
}
