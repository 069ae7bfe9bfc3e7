import type { Catalogue } from '@orch/core/catalogue'
import { memo } from '@orch/core/memo'
import { DefinitionPlaces } from '../aggregation/definition-places.ts'
import type { RemoteDocuments, RemoteFile, RemoteOpenApi } from '../aggregation/remote-openapi.ts'
import type { Pieces } from '../representations/gzip-pieces.ts'
import { Runs } from '../representations/runs.ts'
import { factsOf, hashOfDefinition } from '../texts/openapi-jobs.ts'
import type { Beside } from '../texts/openapi-part.ts'
import { BuiltInOpenApi } from './built-in-openapi.ts'
import { type Added2, following, GroupOpenApi, nothing } from './group-openapi.ts'
import { allOf, type Once, once } from './once.ts'
import { type Form, hashOf, type Listed3, listed3, OpenApi3File, type OpenApiFile, type OpenApiSources } from './openapi-file.ts'

/** The sources of the documents, fixed and changing ones. */
export interface OpenApiDocumentsOptions extends OpenApiSources {
  readonly catalogue: () => Catalogue
  /** The OpenAPI documents of remote group versions. */
  readonly remoteOpenApi: Pick<RemoteOpenApi, 'all' | 'thread'>
}

/** The current catalogue, and its documents. */
interface Present {
  readonly catalogue: Catalogue
  readonly remote: readonly RemoteDocuments[]
  readonly documents: PresentDocuments
}

/** The OpenAPI documents of a gateway. Unchanged groups keep the same bytes after a change. */
export class OpenApiDocuments {
  readonly #options: OpenApiDocumentsOptions
  readonly #shared: Shared
  #present: Present | undefined
  #groups: ReadonlyMap<string, GroupOpenApi> = new Map()

  constructor(options: OpenApiDocumentsOptions) {
    const builtIn = new BuiltInOpenApi(options)
    const { pace } = options
    this.#options = options
    this.#shared = {
      builtIn,
      remoteParts: new RemoteParts(builtIn, options.remoteOpenApi.thread),
      remoteFile: memo((file: RemoteFile, name: string) => ({
        file: new OpenApi3File(file.bytes, file, pace),
        listed: listed3(options, name, file.hash),
      })),
      indexRuns: new Runs((run) => Buffer.concat(run.map(({ entry }) => entry))),
    }
  }

  /** The documents of the current catalogue, which stay unchanged. */
  now(): PresentDocuments {
    const [catalogue, remote] = [this.#options.catalogue(), this.#options.remoteOpenApi.all]
    if (this.#present?.catalogue === catalogue && this.#present.remote === remote) return this.#present.documents
    this.#groups = this.#groupsOf(catalogue, remote)
    this.#present = { catalogue, remote, documents: new PresentDocuments(this.#shared, this.#groups, remote) }
    return this.#present.documents
  }

  /** The documents of the kinds of another moment, with no other server's. */
  readonly of = memo((catalogue: Catalogue) => new PresentDocuments(this.#shared, this.#groupsOf(catalogue, []), []))

  /** The groups in which there are other resources than the built-in ones, without the versions that other servers serve. */
  #groupsOf(catalogue: Catalogue, remote: readonly RemoteDocuments[]): ReadonlyMap<string, GroupOpenApi> {
    const { builtIn } = this.#shared
    const ownGroups = new Set(this.#options.builtInCatalogue.groups)
    const taken = new Set(remote.map(({ name }) => name))
    const groups = new Map<string, GroupOpenApi>()
    for (const source of catalogue.groups) {
      const { name } = source
      const versions = taken.size === 0 ? source.versions : source.versions.filter((version) => !taken.has(`apis/${name}/${version}`))
      if (ownGroups.has(source) || versions.length === 0) continue
      const before = this.#groups.get(name)
      const isSame = before?.isOf(source, versions) === true
      groups.set(name, isSame ? before : new GroupOpenApi({ builtIn, catalogue, source, versions, before }))
    }
    return groups
  }
}

/** The parts shared by all documents. */
interface Shared {
  readonly builtIn: BuiltInOpenApi
  readonly remoteParts: RemoteParts
  readonly remoteFile: (file: RemoteFile, name: string) => { readonly file: OpenApi3File; readonly listed: Listed3 }
  /** Entries are too short to be compressed on their own. */
  readonly indexRuns: Runs<Listed3, Uint8Array>
}

/** The documents of one catalogue. */
class PresentDocuments {
  /** OpenAPI 2: one document for all kinds. */
  readonly file2: Readonly<Record<Form, Once<OpenApiFile>>>
  /** The index of OpenAPI 3, in the order of the documents' names. */
  readonly index: Once<Pieces>
  readonly #shared: Shared
  readonly #groups: ReadonlyMap<string, GroupOpenApi>
  readonly #remote: readonly RemoteDocuments[]

  constructor(shared: Shared, groups: ReadonlyMap<string, GroupOpenApi>, remote: readonly RemoteDocuments[]) {
    this.#shared = shared
    this.#groups = groups
    this.#remote = remote
    this.file2 = { json: once(() => this.#join2('json')), encoded: once(() => this.#join2('encoded')) }
    this.index = once(() => this.#index())
  }

  /** An OpenAPI 3 document; undefined for an unknown name. */
  async file3(name: string): Promise<OpenApi3File | undefined> {
    const remote = this.#remote.find((one) => one.name === name)
    if (remote !== undefined) return remote.file3 && this.#shared.remoteFile(remote.file3, name).file
    const [root, group = ''] = name.split('/')
    const { files3 } = (root === 'apis' ? this.#groups.get(group) : undefined) ?? this.#shared.builtIn
    return files3.get(name)
  }

  /** The document of the built-in kinds with the additions of groups and remote servers to its maps. */
  async #join2(form: Form): Promise<OpenApiFile> {
    const { builtIn, remoteParts } = this.#shared
    const base = await builtIn.form2[form]()
    const own = await allOf(Array.from(this.#groups.values(), (group) => group.added2[form]))
    const others = this.#remote.length === 0 ? [] : await remoteParts.of(this.#remote, own)
    const added = [...own, ...others.map((other) => other[form])]
    const pieces = [
      ...base.paths,
      ...added.map(({ paths }) => paths),
      ...base.definitions,
      ...added.map(({ definitions }) => definitions),
      ...base.back,
    ].filter(({ length }) => length > 0)
    if (added.length === 0) return { ...base, pieces }
    const hash = hashOf([base, ...added].map((one) => one.hash).join(' '))
    return { pieces, hash, madeMs: builtIn.sources.clock.now() }
  }

  async #index(): Promise<Pieces> {
    const { builtIn, remoteFile, indexRuns } = this.#shared
    const ofGroups = await allOf(Array.from(this.#groups.values(), (group) => group.listed))
    const taken = new Set(this.#remote.map(({ name }) => name))
    const own = [...(await builtIn.listed()), ...ofGroups.flat()].filter(({ name }) => taken.size === 0 || !taken.has(name))
    const others = this.#remote.flatMap(({ name, file3 }) => (file3 === undefined ? [] : [remoteFile(file3, name).listed]))
    const listed = own.concat(others).sort(({ name: left }, { name: right }) => (left === right ? 0 : left < right ? -1 : 1))
    // A group with custom and built-in resources is listed twice, the complete entry last.
    return [...indexRuns.of(listed.filter(({ name }, index) => listed[index + 1]?.name !== name)), indexBack]
  }
}

const indexBack = Buffer.from('}}\n')

/** A remote server's part of OpenAPI 2, in both forms. */
type RemotePart = Readonly<Record<Form, Added2>>

interface KeptPart {
  /** The source of the part. */
  readonly key: string
  readonly part: () => Promise<RemotePart>
}

/** Additions of remote servers to OpenAPI 2. Each is printed once while it, and the used names, are unchanged. */
class RemoteParts {
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
