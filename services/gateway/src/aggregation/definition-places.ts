import type { DefinitionFacts } from '../texts/jobs.ts'
import type { Beside } from '../texts/openapi-part.ts'

/**
 * The names that definitions of several documents have in one. A definition whose name is taken by another content gets a new name:
 * the first of `<name>_v2`, `<name>_v3`, … that no document has.
 */
export class DefinitionPlaces {
  readonly #first: (name: string) => string | undefined
  readonly #added = new Map<string, string>()

  /** `first` gives the hash of a definition that is there from the beginning. */
  constructor(first: (name: string) => string | undefined) {
    this.#first = first
  }

  /** Takes the definitions of one more document. */
  add(definitions: readonly DefinitionFacts[]): Beside {
    const own = new Set(definitions.map(([name]) => name))
    const taken = definitions.filter(([name]) => this.#hashOf(name) !== undefined)
    const others = new Set(taken.filter(([name, hash]) => this.#hashOf(name) !== hash).map(([name]) => name))
    // A definition with references to another definition of equal content is not equal.
    for (let before = -1; before < others.size; ) {
      before = others.size
      for (const [name, , ...references] of taken) if (references.some((one) => others.has(one))) others.add(name)
    }
    const renamed = new Map<string, string>()
    for (const name of others) renamed.set(name, this.#freeName(name, own, new Set(renamed.values())))
    for (const [name, hash] of definitions) {
      // A definition with references to renamed ones differs from another document's with the same text.
      const isOwn = others.has(name) || this.#hashOf(name) === undefined
      if (isOwn) this.#added.set(renamed.get(name) ?? name, renamed.size === 0 ? hash : '')
    }
    return { without: new Set(taken.map(([name]) => name).filter((name) => !others.has(name))), renamed }
  }

  #hashOf(name: string): string | undefined {
    return this.#added.get(name) ?? this.#first(name)
  }

  #freeName(name: string, own: ReadonlySet<string>, given: ReadonlySet<string>): string {
    for (let count = 2; ; count += 1) {
      const candidate = `${name}_v${count}`
      if (this.#hashOf(candidate) === undefined && !own.has(candidate) && !given.has(candidate)) return candidate
    }
  }
}
