import { domainGroup } from '@orch/core/names'
import { encodeOpenApi2InSteps, type OpenApi2, openApi2DocumentInSteps, openApi3Names, printOpenApiInSteps } from '@orch/core/openapi'
import type { Steps } from '@orch/core/steps'
import { type Once, once } from './once.ts'
import { type Form, hashOf, type Listed3, listed3, OpenApi3Files, type OpenApiSources, openApiOptions } from './openapi-file.ts'
import { readPreset } from './preset-openapi.ts'

/** OpenAPI 2 of the built-in kinds in one form. Groups add paths after the first pieces, and definitions after the second. */
export interface Base2 {
  readonly paths: readonly Uint8Array[]
  readonly definitions: readonly Uint8Array[]
  readonly back: readonly Uint8Array[]
  readonly hash: string
  readonly madeMs: number
}

/** The name of OpenAPI 2 among the preset documents. */
export const name2 = 'v2'

/** The documents of the built-in kinds. Each is loaded, or built in steps, at the first request for it, once for all callers. */
export class BuiltInOpenApi {
  readonly sources: OpenApiSources
  readonly document2: Once<OpenApi2>
  readonly form2: Readonly<Record<Form, Once<Base2>>>
  readonly files3: OpenApi3Files
  readonly listed: Once<readonly Listed3[]>

  constructor(sources: OpenApiSources) {
    const { builtInCatalogue: catalogue } = sources
    const names3 = openApi3Names(catalogue, openApiOptions(sources))
    this.sources = sources
    this.document2 = once(() => this.#document2())
    this.form2 = { json: once(() => this.#printed()), encoded: once(() => this.#encoded()) }
    this.files3 = new OpenApi3Files(sources, catalogue, names3, { readMade: (name) => readPreset(name, sources) })
    this.listed = once(async () => {
      const listed: Listed3[] = []
      for (const name of names3) {
        const { json } = (await this.files3.get(name)) ?? {}
        listed.push(listed3(sources, name, json?.hash ?? '', listed.length === 0 ? '{"paths":{' : undefined))
      }
      return listed
    })
  }

  /** Changes with the code that builds the documents: the hash of a common one. */
  async hashOfMaking(): Promise<string | undefined> {
    const { names } = this.sources.builtInCatalogue
    return (await this.files3.get(`apis/${domainGroup(names, 'apiextensions')}/v1`))?.json.hash
  }

  async #document2(): Promise<OpenApi2> {
    const { builtInCatalogue, pace, version } = this.sources
    const preset = await readPreset(name2, this.sources)
    if (preset !== undefined) return JSON.parse(Buffer.concat(preset).toString())
    return pace.run(openApi2DocumentInSteps(builtInCatalogue, version.gitVersion, openApiOptions(this.sources)))
  }

  async #printed(): Promise<Base2> {
    const { pace } = this.sources
    const preset = await readPreset(name2, this.sources)
    if (preset !== undefined) return this.#base({ paths: preset.slice(0, 1), definitions: preset.slice(1, 2), back: preset.slice(2) })
    const { paths, definitions, swagger, info, ...rest } = await this.document2()
    const front = JSON.stringify({ swagger, info }).slice(0, -1)
    return this.#base({
      paths: [Buffer.from(`${front},"paths":{`), await pace.run(membersInSteps(paths))],
      definitions: [Buffer.from('},"definitions":{'), await pace.run(membersInSteps(definitions))],
      back: [Buffer.from(`},${JSON.stringify(rest).slice(1)}\n`)],
    })
  }

  async #encoded(): Promise<Base2> {
    const bytes = await this.sources.pace.run(encodeOpenApi2InSteps(await this.document2()))
    return this.#base({ paths: [bytes], definitions: [], back: [] })
  }

  #base(pieces: Pick<Base2, 'paths' | 'definitions' | 'back'>): Base2 {
    return { ...pieces, hash: hashOf(...pieces.paths, ...pieces.definitions, ...pieces.back), madeMs: this.sources.clock.now() }
  }
}

/** The members of a map between its braces. */
export function* membersInSteps(members: object): Steps<Uint8Array> {
  const text = yield* printOpenApiInSteps(members, 1)
  return Buffer.from(text.slice(1, -1))
}
