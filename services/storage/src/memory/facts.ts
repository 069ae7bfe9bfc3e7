/** A set of labels or selectable fields that many objects share: one object for each distinct set. */
export class FactSet {
  readonly text: string
  #map: Readonly<Record<string, string>> | undefined

  constructor(text: string) {
    this.text = text
  }

  /** The facts by name, parsed when first asked for. It has no prototype, since names are the users'. */
  get map(): Readonly<Record<string, string>> {
    this.#map ??= this.text === '{}' ? none : parse(this.text)
    return this.#map
  }
}

const none: Readonly<Record<string, string>> = Object.freeze(Object.create(null))

function parse(text: string): Readonly<Record<string, string>> {
  const map: Record<string, string> = Object.create(null)
  const parsed: Readonly<Record<string, string>> = JSON.parse(text)
  for (const [name, value] of Object.entries(parsed)) map[name] = value
  return Object.freeze(map)
}

const sweepAtLeast = 1_024

/** Returns the one FactSet of a text. Sets that are no longer held are forgotten. */
export class Interner {
  readonly #sets = new Map<string, WeakRef<FactSet>>()
  #sweepAt = sweepAtLeast

  /** Texts that are known. */
  get size(): number {
    return this.#sets.size
  }

  intern(text: string): FactSet {
    const known = this.#sets.get(text)?.deref()
    if (known !== undefined) return known
    if (this.#sets.size >= this.#sweepAt) this.#sweep()
    const set = new FactSet(text)
    this.#sets.set(text, new WeakRef(set))
    return set
  }

  #sweep(): void {
    for (const [text, set] of this.#sets) if (set.deref() === undefined) this.#sets.delete(text)
    this.#sweepAt = Math.max(sweepAtLeast, this.#sets.size * 2)
  }
}
