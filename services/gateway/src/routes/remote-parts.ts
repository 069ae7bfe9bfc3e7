import { DefinitionPlaces } from '../aggregation/definition-places.ts'
import type { RemoteDocuments, RemoteOpenApi } from '../aggregation/remote-openapi.ts'
import { factsOf, hashOfDefinition } from '../texts/openapi-jobs.ts'
import type { Beside } from '../texts/openapi-part.ts'
import type { BuiltInOpenApi } from './built-in-openapi.ts'
import { type Added2, following, nothing } from './group-openapi.ts'
import { once } from './once.ts'
import { type Form, hashOf } from './openapi-file.ts'

/** A remote server's part of OpenAPI 2, in both forms. */
export type RemotePart = Readonly<Record<Form, Added2>>

interface KeptPart {
  /** The source of the part. */
  readonly key: string
  readonly part: () => Promise<RemotePart>
}

/** Additions of remote servers to OpenAPI 2. Each is printed once while it, and the used names, are unchanged. */
export class RemoteParts {
  readonly #builtIn: BuiltInOpenApi
  readonly #thread: Pick<RemoteOpenApi['thread'], 'join'>
  readonly #kept = new WeakMap<RemoteDocuments, KeptPart>()

  constructor(builtIn: BuiltInOpenApi, thread: Pick<RemoteOpenApi['thread'], 'join'>) {
    this.#builtIn = builtIn
    this.#thread = thread
  }

  /** Definitions whose name is used with other content, here or remotely, get new names. */
  async of(all: readonly RemoteDocuments[], own: readonly Added2[]): Promise<readonly RemotePart[]> {
    const base = await this.#builtIn.document2()
    const names = new Set(own.flatMap((added) => added.names))
    const places = new DefinitionPlaces((name) => {
      if (names.has(name)) return 'custom'
      return Object.hasOwn(base.definitions, name) ? hashOfDefinition(base.definitions[name]) : undefined
    })
    const made: Promise<RemotePart>[] = []
    for (const remote of all) {
      // Built-in paths cannot be replaced.
      if (remote.part2 === undefined || Object.hasOwn(base.paths, `/${remote.name}/`)) continue
      const facts = factsOf(remote.part2)
      await this.#builtIn.sources.pace.turn()
      made.push(this.#partOf(remote, places.add(facts)))
    }
    return Promise.all(made)
  }

  #partOf(remote: RemoteDocuments, beside: Beside): Promise<RemotePart> {
    const key = JSON.stringify([[...beside.without], [...beside.renamed]])
    const known = this.#kept.get(remote)
    const kept = known?.key === key ? known : { key, part: once(() => this.#join(remote, beside, key)) }
    this.#kept.set(remote, kept)
    return kept.part()
  }

  async #join({ part2 }: RemoteDocuments, beside: Beside, key: string): Promise<RemotePart> {
    const { info } = await this.#builtIn.document2()
    const bytes = part2?.bytes ?? nothing
    const { paths, definitions, encoded } = await this.#thread.join({ kind: 'joinOpenApi', bytes, beside, info })
    const facts = { names: [], hash: hashOf(`${part2?.hash} ${key}`) }
    return {
      json: { ...facts, paths: following(paths), definitions: following(definitions) },
      encoded: { ...facts, paths: encoded, definitions: nothing },
    }
  }
}
