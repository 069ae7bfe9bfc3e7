import { type Catalogue, type GroupChange, withGroups } from '@orch/core/catalogue'

/** Called with each new value, the names of the changed groups, and the revision of the change. */
export type CatalogueListener = (catalogue: Catalogue, changed: readonly string[], revision: number) => void

/** The served kinds: built-in kinds, and those of the stored definitions. */
export class LiveCatalogue {
  readonly #builtIn: Catalogue
  #current: Catalogue
  readonly #listeners = new Set<CatalogueListener>()

  constructor(builtIn: Catalogue) {
    this.#builtIn = builtIn
    this.#current = builtIn
  }

  /** The current value. A request reads it once and keeps using it. */
  current(): Catalogue {
    return this.#current
  }

  /** Calls back with every new value. There may be thousands of groups, of which a change affects few. */
  onChange(listener: CatalogueListener): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Serves these custom resources of a revision instead of the earlier ones of their groups. All other resources stay the same values. */
  setGroups(changes: readonly GroupChange[], revision: number): void {
    this.#current = this.#with(this.#current, changes)
    const changed = changes.map(({ name }) => name)
    for (const listener of this.#listeners) listener(this.#current, changed, revision)
  }

  /** The built-in kinds and these custom ones, without those of now. */
  besideBuiltIn(groups: readonly GroupChange[]): Catalogue {
    return this.#with(this.#builtIn, groups)
  }

  /** A group with built-in resources has no custom ones, as in kube-apiserver. */
  #with(catalogue: Catalogue, changes: readonly GroupChange[]): Catalogue {
    return withGroups(
      catalogue,
      changes.filter(({ name }) => this.#builtIn.group(name) === undefined),
    )
  }
}
