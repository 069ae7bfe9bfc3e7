import type { DefinitionFacts } from '../texts/jobs.ts'
import type { Beside } from '../texts/openapi-part.ts'

/**
 * Names of definitions from several documents in one document. A definition whose name is used with other content gets a new name: the first unused of
 * `<name>_v2`, `<name>_v3`, ….
 */
export class DefinitionPlaces {
  readonly #first: (name: string) => string | undefined
  readonly #added = new Map<string, string>()

  /** `first` returns the hash of an initial definition. */
  constructor(first: (name: string) => string | undefined) {
    this.#first = first
  }

  /** Adds the definitions of another document. */
  add(definitions: readonly DefinitionFacts[]): Beside {
    const own = new Set(definitions.map(([name]) => name))
    const taken = definitions.filter(([name]) => this.#hashOf(name) !== undefined)
    const others = new Set(taken.filter(([name, hash]) => this.#hashOf(name) !== hash).map(([name]) => name))
    // A definition is equal only if its references are equal too.
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
