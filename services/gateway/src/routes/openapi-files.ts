import { createHash } from 'node:crypto'
import type { Catalogue } from '@orch/core/catalogue'
import {
  encodeOpenApi2InSteps,
  openApi2DocumentInSteps,
  openApi3DocumentInSteps,
  openApi3Names,
  printOpenApiInSteps,
} from '@orch/core/openapi'
import type { Steps } from '@orch/core/steps'
import type { Clock } from '@orch/platform'
import type { Authenticators } from '../authentication/authenticators.ts'
import type { Pace } from '../pace.ts'
import type { VersionInfo } from '../version-info.ts'

/** One OpenAPI document as it is sent. */
export interface OpenApiFile {
  readonly bytes: Uint8Array
  readonly hash: string
  readonly madeMs: number
}

/** What the documents are made from, and where the work on them shares the event loop. */
export interface OpenApiParts {
  readonly authentication: Pick<Authenticators, 'issuer'>
  readonly catalogue: Catalogue
  readonly clock: Pick<Clock, 'now'>
  readonly pace: Pace
  readonly version: Pick<VersionInfo, 'gitVersion'>
}

/** The OpenAPI 2 document in its two forms. */
export interface OpenApi2Files {
  json(): Promise<OpenApiFile>
  encoded(): Promise<OpenApiFile>
}

const files2 = new WeakMap<object, OpenApi2Files>()

/** The files of OpenAPI 2: each is made in steps at the first question for it, once for all who ask meanwhile. */
export function openApi2Files(parts: OpenApiParts): OpenApi2Files {
  const { catalogue, clock, version, pace } = parts
  const known = files2.get(catalogue)
  if (known !== undefined) return known
  const document = once(() => pace.run(openApi2DocumentInSteps(catalogue, version.gitVersion, openApiOptions(parts))))
  const files = {
    json: once(async () => fileOf(await pace.run(printedInSteps(await document())), clock.now())),
    encoded: once(async () => fileOf(await pace.run(encodeOpenApi2InSteps(await document())), clock.now())),
  }
  files2.set(catalogue, files)
  return files
}

/** Names of the OpenAPI 3 documents that are served. */
export function openApi3FileNames(parts: OpenApiParts): string[] {
  return openApi3Names(parts.catalogue, openApiOptions(parts))
}

const files3 = new WeakMap<object, Map<string, () => Promise<OpenApiFile>>>()

/** An OpenAPI 3 document, made as the files of OpenAPI 2; undefined where none has this name. */
export async function openApi3File(parts: OpenApiParts, name: string): Promise<OpenApiFile | undefined> {
  const { catalogue, clock, version, pace } = parts
  const files = files3.get(catalogue) ?? new Map<string, () => Promise<OpenApiFile>>()
  files3.set(catalogue, files)
  const known = files.get(name)
  if (known !== undefined) return known()
  if (!openApi3FileNames(parts).includes(name)) return undefined
  const wanted = { ...openApiOptions(parts), name, serverVersion: version.gitVersion }
  const make = once(async () => {
    const document = await pace.run(openApi3DocumentInSteps(catalogue, wanted))
    return fileOf(await pace.run(printedInSteps(document)), clock.now())
  })
  files.set(name, make)
  return make()
}

function openApiOptions({ authentication }: OpenApiParts): { readonly hasIssuer: boolean } {
  return { hasIssuer: authentication.issuer !== undefined }
}

function* printedInSteps(document: object): Steps<Uint8Array> {
  const text = yield* printOpenApiInSteps(document)
  yield
  const bytes = Buffer.from(`${text}\n`)
  yield
  return bytes
}

function fileOf(bytes: Uint8Array, madeMs: number): OpenApiFile {
  return { bytes, hash: createHash('sha512').update(bytes).digest('hex').toUpperCase(), madeMs }
}

/** The same promise for all who ask; what has failed is tried again. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => {
    made ??= make().catch((error: unknown) => {
      made = undefined
      throw error
    })
    return made
  }
}
