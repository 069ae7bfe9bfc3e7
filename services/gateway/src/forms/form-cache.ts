/** What tells one state of an object from all others of one epoch. */
export interface FormOwner {
  readonly key: string
  readonly revision: number
}

interface Kept {
  readonly revision: number
  readonly value: unknown
  readonly bytes: number
}

/**
 * Other forms of stored objects, kept under a budget of bytes. Of each object and form there is one state; what was made first is
 * dropped first.
 *
 *   set(item, pods/a at 5)   get(item, pods/a at 5) → the value   get(item, pods/a at 6) → undefined, to be made anew
 */
export class FormCache {
  readonly #bytesMax: number
  readonly #kept = new Map<string, Map<string, Kept>>()
  #epoch = ''
  #bytes = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  /** Revisions of another epoch mean other objects: what is kept of them is forgotten. */
  enter(epoch: string): void {
    if (epoch === this.#epoch) return
    this.#epoch = epoch
    this.#kept.clear()
    this.#bytes = 0
  }

  /** Bytes of all that is kept. */
  get bytes(): number {
    return this.#bytes
  }

  /** The form of an object in this state, made where it is not kept. `bytesOf` says what keeping it costs. */
  get<T>(form: string, { key, revision }: FormOwner, make: () => T, bytesOf: (value: T) => number): T {
    const known = this.#kept.get(form)?.get(key)
    if (known?.revision === revision) return known.value as T
    const value = make()
    this.#keep(form, key, { revision, value, bytes: bytesOf(value) })
    return value
  }

  #keep(form: string, key: string, kept: Kept): void {
    const ofForm = this.#kept.get(form) ?? new Map<string, Kept>()
    this.#kept.set(form, ofForm)
    this.#bytes += kept.bytes - (ofForm.get(key)?.bytes ?? 0)
    ofForm.delete(key)
    ofForm.set(key, kept)
    if (this.#bytes > this.#bytesMax) this.#makeRoom()
  }

  #makeRoom(): void {
    for (const ofForm of this.#kept.values()) {
      for (const [key, { bytes }] of ofForm) {
        if (this.#bytes <= this.#bytesMax) return
        ofForm.delete(key)
        this.#bytes -= bytes
      }
    }
  }
}
