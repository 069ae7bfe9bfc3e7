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

/** Other forms of stored objects. Revisions of another epoch mean other objects, so each epoch has forms of its own. */
export class FormCache {
  readonly #bytesMax: number
  #epoch = ''
  #forms: Forms

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
    this.#forms = new Forms(bytesMax)
  }

  /** The forms of an epoch. A reader in an earlier epoch goes on with what it holds, which no other reader sees. */
  of(epoch: string): Forms {
    if (epoch !== this.#epoch) {
      this.#epoch = epoch
      this.#forms = new Forms(this.#bytesMax)
    }
    return this.#forms
  }
}

/**
 * The forms of the objects of one epoch, kept under a budget of bytes. Of each object and form there is one state; what was made
 * first is dropped first.
 *
 *   get(item, pods/a at 5) makes and keeps it   again → the same   get(item, pods/a at 6) makes it anew
 */
export class Forms {
  readonly #bytesMax: number
  readonly #kept = new Map<string, Map<string, Kept>>()
  #bytes = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  /** Bytes of all that is kept. */
  get bytes(): number {
    return this.#bytes
  }

  /** The form of an object in this state, made where it is not kept. `bytesOf` says what keeping it costs. */
  get<T>(form: string, owner: FormOwner, make: () => T, bytesOf: (value: T) => number): T {
    const known = this.find<T>(form, owner)
    if (known !== undefined) return known
    const value = make()
    this.keep(form, owner, value, bytesOf(value))
    return value
  }

  /** The form of an object in this state, where it is kept. */
  find<T>(form: string, { key, revision }: FormOwner): T | undefined {
    const known = this.#kept.get(form)?.get(key)
    return known?.revision === revision ? (known.value as T) : undefined
  }

  /** Keeps a form in place of what was kept of the object. `bytes` is what that costs. */
  keep(form: string, { key, revision }: FormOwner, value: unknown, bytes: number): void {
    const ofForm = this.#kept.get(form) ?? new Map<string, Kept>()
    this.#kept.set(form, ofForm)
    this.#bytes += bytes - (ofForm.get(key)?.bytes ?? 0)
    ofForm.delete(key)
    ofForm.set(key, { revision, value, bytes })
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
