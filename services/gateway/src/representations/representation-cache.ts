/** Identifies one state of an object within one epoch. */
export interface RepresentationOwner {
  readonly key: string
  readonly revision: number
}

interface Kept {
  readonly revision: number
  readonly value: unknown
  readonly bytes: number
}

/** Other forms of stored objects. Equal revisions of another epoch are other objects, so each epoch has separate forms. */
export class RepresentationCache {
  readonly #bytesMax: number
  #epoch = ''
  #representations: Representations

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
    this.#representations = new Representations(bytesMax)
  }

  /** The forms of an epoch. A reader of an earlier epoch keeps its own, which no other reader sees. */
  of(epoch: string): Representations {
    if (epoch !== this.#epoch) {
      this.#epoch = epoch
      this.#representations = new Representations(this.#bytesMax)
    }
    return this.#representations
  }
}

/**
 * The forms of the objects of one epoch, under a budget of bytes. Each object and form has one state; the oldest
 * is dropped first.
 *
 *   get(item, pods/a at 5) makes and keeps it   again → the same   get(item, pods/a at 6) makes it anew
 */
export class Representations {
  readonly #bytesMax: number
  readonly #kept = new Map<string, Map<string, Kept>>()
  #bytes = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  /** Bytes of all cached forms. */
  get bytes(): number {
    return this.#bytes
  }

  /** The form of an object in this state, created if it is not cached. `bytesOf` returns its size for the budget. */
  get<T>(representation: string, owner: RepresentationOwner, make: () => T, bytesOf: (value: T) => number): T {
    const known = this.find<T>(representation, owner)
    if (known !== undefined) return known
    const value = make()
    this.keep(representation, owner, value, bytesOf(value))
    return value
  }

  /** The cached form of an object in this state. */
  find<T>(representation: string, { key, revision }: RepresentationOwner): T | undefined {
    const known = this.#kept.get(representation)?.get(key)
    return known?.revision === revision ? (known.value as T) : undefined
  }

  /** Caches a form instead of the object's earlier one. `bytes` is its size. */
  keep(representation: string, { key, revision }: RepresentationOwner, value: unknown, bytes: number): void {
    const ofRepresentation = this.#kept.get(representation) ?? new Map<string, Kept>()
    this.#kept.set(representation, ofRepresentation)
    this.#bytes += bytes - (ofRepresentation.get(key)?.bytes ?? 0)
    ofRepresentation.delete(key)
    ofRepresentation.set(key, { revision, value, bytes })
    if (this.#bytes > this.#bytesMax) this.#makeRoom()
  }

  #makeRoom(): void {
    for (const ofRepresentation of this.#kept.values()) {
      for (const [key, { bytes }] of ofRepresentation) {
        if (this.#bytes <= this.#bytesMax) return
        ofRepresentation.delete(key)
        this.#bytes -= bytes
      }
    }
  }
}
