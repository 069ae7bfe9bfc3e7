import { createHash } from 'node:crypto'
import { type Catalogue, type Group, onlyGroup } from '@orch/core/catalogue'
import { encodeDefinitionsInSteps, encodePathsInSteps, type OpenApi2, openApi2PartInSteps } from '@orch/core/openapi'
import type { Steps } from '@orch/core/steps'
import { type BuiltInOpenApi, membersInSteps } from './built-in-openapi.ts'
import { type Once, once } from './once.ts'
import { type Form, hashOf, type Listed3, listed3, OpenApi3Files, openApiOptions } from './openapi-file.ts'

/** Members that are added to the two maps of OpenAPI 2, in one form. */
export interface Added2 {
  readonly paths: Uint8Array
  readonly definitions: Uint8Array
  /** The names of the definitions. */
  readonly names: readonly string[]
  /** Changes with any form of the addition. */
  readonly hash: string
}

/** The last additions of a group. */
type Last2 = Partial<Record<Form, Pick<Added2, 'paths' | 'definitions'>>>

/** The sources of a group's bytes. */
export interface GroupOpenApiOptions {
  readonly builtIn: BuiltInOpenApi
  /** The catalogue with the group. No other part of it is referenced. */
  readonly catalogue: Catalogue
  readonly source: Group
  /** The group's versions without remote ones. */
  readonly versions: readonly string[]
  /** The group before a change of it. */
  readonly before: GroupOpenApi | undefined
}

/** Bytes derived from one group of custom resources. Each is created at the first request for it and cached with the group, independent of other groups. */
export class GroupOpenApi {
  /** The group's part of OpenAPI 2. */
  readonly added2: Readonly<Record<Form, Once<Added2>>>
  readonly files3: OpenApi3Files
  /** The group's OpenAPI 3 documents in the index, which lists them without creating them. */
  readonly listed: Once<readonly Listed3[]>
  readonly #builtIn: BuiltInOpenApi
  readonly #source: Group
  readonly #versions: readonly string[]
  readonly #catalogue: Catalogue
  readonly #last: Last2

  constructor({ builtIn, catalogue, source, versions, before }: GroupOpenApiOptions) {
    const { name } = source
    this.#builtIn = builtIn
    this.#source = source
    this.#versions = versions
    this.#catalogue = onlyGroup(catalogue, { name, versions })
    this.#last = before === undefined ? {} : before.#last
    this.added2 = { json: once(() => this.#add('json')), encoded: once(() => this.#add('encoded')) }
    const names3 = [`apis/${name}`, ...versions.map((version) => `apis/${name}/${version}`)]
    this.files3 = new OpenApi3Files(builtIn.sources, this.#catalogue, names3, { hash: (one) => this.#hash3(one) })
    this.listed = once(() => Promise.all(names3.map((one) => this.#list(one))))
  }

  /** True if the bytes are current for the group. */
  isOf(source: Group, versions: readonly string[]): boolean {
    return this.#source === source && (this.#versions === versions || this.#versions.join() === versions.join())
  }

  /** The definitions' facts about the resources; undefined if some come from no definition. */
  #facts(version?: string): readonly string[] | undefined {
    const resources = this.#catalogue.resources.filter((one) => version === undefined || one.version === version)
    const sources = resources.flatMap(({ definedBy }) => definedBy ?? [])
    return sources.length === resources.length ? sources : undefined
  }

  async #add(form: Form): Promise<Added2> {
    const { sources, document2 } = this.#builtIn
    const { pace } = sources
    const beside = await document2()
    // A thousand groups may start in one turn of the event loop.
    await pace.turn()
    const { paths, definitions } = await pace.runBriefly(openApi2PartInSteps(this.#catalogue, { ...openApiOptions(sources), beside }))
    const before = this.#last[form]
    const bytes = {
      paths: sameOr(await pace.runBriefly(forms[form].paths(paths)), before?.paths),
      definitions: sameOr(await pace.runBriefly(forms[form].definitions(definitions)), before?.definitions),
    }
    this.#last[form] = bytes
    const hash = this.#hash2() ?? (form === 'json' ? shortHashOf(bytes.paths, bytes.definitions) : (await this.added2.json()).hash)
    return { ...bytes, names: Object.keys(definitions), hash }
  }

  /** Undefined if some resources come from no definition. */
  #hash2(): string | undefined {
    const facts = this.#facts()
    return facts && shortHashOf(JSON.stringify([this.#source.name, this.#versions, facts]))
  }

  /** Changes with a document, without creating it. */
  async #hash3(name: string): Promise<string | undefined> {
    const { sources } = this.#builtIn
    const [, groupName = '', version] = name.split('/')
    const facts = this.#facts(version)
    if (facts === undefined) return undefined
    const making = await this.#builtIn.hashOfMaking()
    const all = [name, groupName, this.#versions, facts, openApiOptions(sources), sources.version.gitVersion, making]
    return hashOf(JSON.stringify(all))
  }

  async #list(name: string): Promise<Listed3> {
    const hash = (await this.#hash3(name)) ?? (await this.files3.get(name))?.json.hash
    return listed3(this.#builtIn.sources, name, hash ?? '')
  }
}

/** The hashes of a thousand groups are hashed together after each change. */
function shortHashOf(...content: readonly (Uint8Array | string)[]): string {
  const hash = createHash('sha256')
  for (const piece of content) hash.update(piece)
  return hash.digest('base64')
}

/** The writer of a group's part. */
interface FormWriter {
  readonly paths: (paths: OpenApi2['paths']) => Steps<Uint8Array>
  readonly definitions: (definitions: OpenApi2['definitions']) => Steps<Uint8Array>
}

const forms: Readonly<Record<Form, FormWriter>> = {
  json: { paths: followingInSteps, definitions: followingInSteps },
  encoded: { paths: encodePathsInSteps, definitions: encodeDefinitionsInSteps },
}

/** The cached bytes if both are equal, as those are already compressed. */
function sameOr(bytes: Uint8Array, known: Uint8Array = nothing): Uint8Array {
  return Buffer.compare(bytes, known) === 0 ? known : bytes
}

/** The members of a map with a comma before each. */
function* followingInSteps(members: object): Steps<Uint8Array> {
  return following(yield* membersInSteps(members))
}

/** No bytes. */
export const nothing = new Uint8Array()
const comma = Buffer.from(',')

/** Members with a comma before each. */
export function following(members: Uint8Array): Uint8Array {
  return members.length === 0 ? members : Buffer.concat([comma, members])
}
