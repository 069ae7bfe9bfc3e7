import { setImmediate } from 'node:timers/promises'
import type { Shape } from '@orch/core/apply'
import { objectKey, type StorageService } from '@orch/core/contracts'
import { specOf } from '@orch/core/definitions'
import { parseBytes } from '@orch/core/json'
import { RecentMap } from '@orch/core/memo'
import { domainGroup, type Names } from '@orch/core/names'
import type { MutatedKind } from '@orch/core/policies'
import { parseStructuralInSteps, shapeOfCustomObject } from '@orch/core/structural'
import type { RequestVersion } from '../matching/equivalents.ts'

/** Maximum number of definitions whose versions are cached; the oldest entry is dropped first. */
const definitionsMax = 32

/** The versions of one definition, by name, at one revision. */
interface Ready {
  readonly revision: number
  readonly versions: Map<string, MutatedKind>
}

/** Looks up custom kinds in their definitions at the latest revision. */
export class CustomKinds {
  readonly #storage: StorageService
  readonly #resource: string
  readonly #ready = new RecentMap<Ready>(definitionsMax)

  constructor(storage: StorageService, names: Names) {
    this.#storage = storage
    this.#resource = `${domainGroup(names, 'apiextensions')}/customresourcedefinitions`
  }

  /** The kind of an object; undefined without a definition of that version. */
  async find({ group, resource, version }: Pick<RequestVersion, 'group' | 'resource' | 'version'>): Promise<MutatedKind | undefined> {
    const name = `${resource}.${group}`
    const { entry } = await this.#storage.get({ key: objectKey(this.#resource, undefined, name), read: { kind: 'latest' } })
    if (entry === undefined) return undefined
    const ready = this.#readyAt(name, entry.revision)
    const known = ready.versions.get(version)
    if (known !== undefined) return known
    const { versions } = specOf(parseBytes(entry.value))
    const found = (versions ?? []).find((one) => one.name === version)
    if (found === undefined) return undefined
    const made = { shape: await shapeOf(found.schema?.openAPIV3Schema), problemsOf: () => [] }
    ready.versions.set(version, made)
    return made
  }

  #readyAt(name: string, revision: number): Ready {
    const known = this.#ready.get(name)
    if (known?.revision === revision) return known
    const made = { revision, versions: new Map<string, MutatedKind>() }
    this.#ready.set(name, made)
    return made
  }
}

/** A schema may be large, so other requests run between its parts. */
async function shapeOf(schema: Parameters<typeof parseStructuralInSteps>[0]): Promise<Shape> {
  const steps = parseStructuralInSteps(schema)
  for (;;) {
    const step = steps.next()
    if (step.done === true) return shapeOfCustomObject(step.value)
    await setImmediate()
  }
}
