import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { Catalogue } from '@orch/core/catalogue'
import { isJsonObject } from '@orch/core/json'
import { encodeOpenApi3InSteps, openApi3DocumentInSteps, openApi3Entry, printOpenApiInSteps } from '@orch/core/openapi'
import type { Steps } from '@orch/core/steps'
import type { Clock } from '@orch/platform'
import type { Authenticators } from '../authentication/authenticators.ts'
import type { Pieces } from '../representations/gzip-pieces.ts'
import { endsRun, type RunItem } from '../representations/runs.ts'
import type { Pace } from '../request/pace.ts'
import type { VersionInfo } from '../server/version-info.ts'
import { type Once, once } from './once.ts'

/** The sources of all documents, and the pace of their creation. */
export interface OpenApiSources {
  readonly authentication: Pick<Authenticators, 'issuer'>
  /** The catalogue without custom resources. */
  readonly builtInCatalogue: Catalogue
  readonly clock: Pick<Clock, 'now'>
  readonly pace: Pace
  readonly version: Pick<VersionInfo, 'gitVersion'>
  /** Prefix of all paths: `/base`. */
  readonly pathPrefix: string
}

/** An OpenAPI document in one form. Its hash changes with its content. */
export interface OpenApiFile {
  readonly pieces: Pieces
  readonly hash: string
  readonly madeMs: number
}

/** The forms of a document: JSON, and Protobuf. */
export type Form = 'json' | 'encoded'

/** The options of all documents. */
export function openApiOptions({ authentication }: Pick<OpenApiSources, 'authentication'>): { readonly hasIssuer: boolean } {
  return { hasIssuer: authentication.issuer !== undefined }
}

/** An OpenAPI 3 document. Its Protobuf form, of the same hash, is converted from its JSON at its first use. */
export class OpenApi3File {
  readonly json: OpenApiFile
  readonly encoded: Once<OpenApiFile>

  constructor(
    bytes: Uint8Array,
    { hash = hashOf(bytes), madeMs }: { readonly hash: string | undefined; readonly madeMs: number },
    pace: Pace,
  ) {
    this.json = { pieces: [bytes], hash, madeMs }
    this.encoded = once(async () => ({ ...this.json, pieces: [await pace.run(encodeOpenApi3InSteps(parsed(bytes)))] }))
  }
}

function parsed(bytes: Uint8Array): Record<string, unknown> {
  const document: unknown = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString())
  return isJsonObject(document) ? document : {}
}

/** Alternative sources of a document or its hash. Undefined uses the default. */
export interface OpenApi3Ways {
  readonly readMade?: (name: string) => Promise<Pieces | undefined>
  readonly hash?: (name: string) => Promise<string | undefined>
}

/** The OpenAPI 3 documents of a catalogue, by name. Each is created at its first use. */
export class OpenApi3Files {
  readonly #sources: OpenApiSources
  readonly #catalogue: Catalogue
  readonly #made = new Map<string, Once<OpenApi3File>>()

  constructor(sources: OpenApiSources, catalogue: Catalogue, names: readonly string[], ways: OpenApi3Ways) {
    this.#sources = sources
    this.#catalogue = catalogue
    for (const name of names)
      this.#made.set(
        name,
        once(() => this.#make(name, ways)),
      )
  }

  /** Undefined for an unknown name. */
  get(name: string): Promise<OpenApi3File> | undefined {
    return this.#made.get(name)?.()
  }

  async #make(name: string, { readMade, hash }: OpenApi3Ways): Promise<OpenApi3File> {
    const { clock, pace } = this.#sources
    const [made] = (await readMade?.(name)) ?? []
    const bytes = made ?? (await this.#print(name))
    return new OpenApi3File(bytes, { hash: await hash?.(name), madeMs: clock.now() }, pace)
  }

  async #print(name: string): Promise<Uint8Array> {
    const { pace, version } = this.#sources
    const wanted = { ...openApiOptions(this.#sources), name, serverVersion: version.gitVersion }
    const document = await pace.run(openApi3DocumentInSteps(this.#catalogue, wanted))
    return pace.run(printedInSteps(document))
  }
}

function* printedInSteps(document: object): Steps<Uint8Array> {
  const text = yield* printOpenApiInSteps(document)
  yield
  const bytes = Buffer.from(`${text}\n`)
  yield
  return bytes
}

/** An OpenAPI 3 document in the index. */
export interface Listed3 extends RunItem {
  readonly name: string
  /** The entry of the index, with a comma before it. */
  readonly entry: Uint8Array
}

/** The index's entry of a document, after `before`. */
export function listed3({ pathPrefix }: Pick<OpenApiSources, 'pathPrefix'>, name: string, hash: string, before = ','): Listed3 {
  const entry = Buffer.from(`${before}${openApi3Entry(name, openApi3Url(pathPrefix, name, hash))}`)
  return { name, entry, isEnd: endsRun(crc32(entry)) }
}

/** The path and query of a document. */
export function openApi3Url(pathPrefix: string, name: string, hash: string): string {
  return `${pathPrefix}/openapi/v3/${name}?hash=${hash}`
}

/** The hash of a document. */
export function hashOf(...content: readonly (Uint8Array | string)[]): string {
  const hash = createHash('sha512')
  for (const piece of content) hash.update(piece)
  return hash.digest('hex').toUpperCase()
}
