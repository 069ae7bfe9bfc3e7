import { type Catalogue, type Resource, withGroup } from '@orch/core/catalogue'

/** What is served now: the built-in kinds, and those of the definitions that are stored. */
export class LiveCatalogue {
  readonly #builtIn: Catalogue
  #current: Catalogue
  readonly #listeners = new Set<(catalogue: Catalogue) => void>()

  constructor(builtIn: Catalogue) {
    this.#builtIn = builtIn
    this.#current = builtIn
  }

  /** The present value. A request takes it once, and goes on with it. */
  current(): Catalogue {
    return this.#current
  }

  /** Calls back with every new value. */
  onChange(listener: (catalogue: Catalogue) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Serves these custom resources in a group instead of those before. Resources of all else stay the same values. */
  setGroup(name: string, versions: readonly string[], resources: readonly Resource[]): void {
    const own = this.#builtIn.resources.filter(({ group }) => group === name)
    const ownVersions = this.#builtIn.groups.find((group) => group.name === name)?.versions ?? []
    const added = versions.filter((version) => !ownVersions.includes(version))
    this.#current = withGroup(this.#current, name, [...ownVersions, ...added], [...own, ...resources])
    for (const listener of this.#listeners) listener(this.#current)
  }
}
