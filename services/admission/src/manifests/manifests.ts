import type { ApiObject } from '@orch/core/meta'
import { Listeners } from '@orch/platform'

/** The objects of one plugin that the files of a folder define. No client can read or change them. */
export class Manifests {
  readonly #listeners = new Listeners()
  #objects: readonly ApiObject[]

  constructor(objects: readonly ApiObject[] = []) {
    this.#objects = objects
  }

  /** By name. */
  of(kind: string): readonly ApiObject[] {
    return this.#objects.filter((object) => object.kind === kind)
  }

  replace(objects: readonly ApiObject[]): void {
    this.#objects = objects
    this.#listeners.call()
  }

  onChange(listener: () => void): void {
    this.#listeners.add(listener)
  }
}
