import { createHash } from 'node:crypto'
import { type Catalogue, type Group, onlyGroup } from '@orch/core/catalogue'
import {
  encodeOpenApi2InSteps,
  type OpenApi2,
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
  /** The same without custom resources. */
  readonly builtInCatalogue: Catalogue
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

/**
 * The files of OpenAPI 2: each is made in steps at the first question for it, once for all who ask meanwhile. What custom resources
 * add is made for each group alone, and the files are joined of ready pieces.
 */
export function openApi2Files(parts: OpenApiParts): OpenApi2Files {
  const { catalogue, builtInCatalogue } = parts
  const known = files2.get(catalogue)
  if (known !== undefined) return known
  const files = catalogue === builtInCatalogue ? wholeFiles2(parts) : joinedFiles2(parts)
  files2.set(catalogue, files)
  return files
}

function wholeFiles2(parts: OpenApiParts): OpenApi2Files {
  const { clock, pace } = parts
  return {
    json: once(async () => fileOf(await pace.run(printedInSteps(await document2(parts))), clock.now())),
    encoded: once(async () => fileOf(await pace.run(encodeOpenApi2InSteps(await document2(parts))), clock.now())),
  }
}

const documents2 = new WeakMap<object, () => Promise<OpenApi2>>()

/** The document of the built-in kinds. */
function document2(parts: OpenApiParts): Promise<OpenApi2> {
  const { builtInCatalogue: catalogue, version, pace } = parts
  const make =
    documents2.get(catalogue) ?? once(() => pace.run(openApi2DocumentInSteps(catalogue, version.gitVersion, openApiOptions(parts))))
  documents2.set(catalogue, make)
  return make()
}

/** The files for the built-in kinds with what each group of custom resources adds to their maps. */
function joinedFiles2(parts: OpenApiParts): OpenApi2Files {
  const { clock } = parts
  const groups = customGroups(parts)
  return {
    json: once(async () => {
      const base = await baseText2(parts)
      const pieces = await Promise.all(groups.map((group) => piece2(parts, group)))
      const paths = [base.paths, ...pieces.map((piece) => piece.paths)]
      const definitions = [base.definitions, ...pieces.map((piece) => piece.definitions)]
      return joinedFile([base.front, ...withCommas(paths), base.between, ...withCommas(definitions), base.back], clock.now())
    }),
    encoded: once(async () => {
      const [base, ...pieces] = await Promise.all([
        baseEncoded2(parts),
        ...groups.map(async (group) => (await piece2(parts, group)).encoded()),
      ])
      // Messages that lie one behind the other are read as one, with the members of their lists one behind the other.
      return joinedFile([base.bytes, ...pieces], clock.now())
    }),
  }
}

interface Text2 {
  readonly front: Uint8Array
  readonly paths: Uint8Array
  readonly between: Uint8Array
  readonly definitions: Uint8Array
  readonly back: Uint8Array
}

const texts2 = new WeakMap<object, () => Promise<Text2>>()

function baseText2(parts: OpenApiParts): Promise<Text2> {
  const { builtInCatalogue, pace } = parts
  const make =
    texts2.get(builtInCatalogue) ??
    once(async () => {
      const { paths, definitions, swagger, info, ...rest } = await document2(parts)
      const opened = JSON.stringify({ swagger, info })
      return {
        front: Buffer.from(`${opened.slice(0, -1)},"paths":{`),
        paths: await pace.run(membersInSteps(paths)),
        between: Buffer.from('},"definitions":{'),
        definitions: await pace.run(membersInSteps(definitions)),
        back: Buffer.from(`},${JSON.stringify(rest).slice(1)}\n`),
      }
    })
  texts2.set(builtInCatalogue, make)
  return make()
}

const encoded2 = new WeakMap<object, OpenApi2Files>()

function baseEncoded2(parts: OpenApiParts): Promise<OpenApiFile> {
  const files = encoded2.get(parts.builtInCatalogue) ?? wholeFiles2(parts)
  encoded2.set(parts.builtInCatalogue, files)
  return files.encoded()
}

/** What a group adds. */
interface Piece2 {
  readonly paths: Uint8Array
  readonly definitions: Uint8Array
  readonly encoded: () => Promise<Uint8Array>
}

const pieces2 = new WeakMap<object, () => Promise<Piece2>>()

function piece2(parts: OpenApiParts, group: CustomGroup): Promise<Piece2> {
  const { pace, version } = parts
  const make =
    pieces2.get(group.key) ??
    once(async () => {
      const base = await document2(parts)
      const whole = await pace.run(openApi2DocumentInSteps(group.catalogue(), version.gitVersion, openApiOptions(parts)))
      const added = {
        ...whole,
        paths: membersBeside(whole.paths, base.paths),
        definitions: membersBeside(whole.definitions, base.definitions),
        security: [],
        securityDefinitions: {},
      }
      return {
        paths: await pace.run(membersInSteps(added.paths)),
        definitions: await pace.run(membersInSteps(added.definitions)),
        encoded: once(() => pace.run(encodeOpenApi2InSteps(added))),
      }
    })
  pieces2.set(group.key, make)
  return make()
}

function membersBeside<T>(members: Readonly<Record<string, T>>, known: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(Object.entries(members).filter(([name]) => !Object.hasOwn(known, name)))
}

/** The members of a map as they stand between its braces. */
function* membersInSteps(members: object): Steps<Uint8Array> {
  const text = yield* printOpenApiInSteps(members)
  return Buffer.from(text.slice(1, -1))
}

const comma = Buffer.from(',')

function withCommas(pieces: readonly Uint8Array[]): Uint8Array[] {
  return pieces.filter(({ length }) => length > 0).flatMap((piece, index) => (index === 0 ? [piece] : [comma, piece]))
}

/** The hash of a file that is joined of pieces: they are hashed once each. */
function joinedFile(pieces: readonly Uint8Array[], madeMs: number): OpenApiFile {
  const hash = createHash('sha512')
  for (const piece of pieces) hash.update(hashOfPiece(piece))
  return { bytes: Buffer.concat(pieces), hash: hash.digest('hex').toUpperCase(), madeMs }
}

const hashes = new WeakMap<Uint8Array, string>()

function hashOfPiece(piece: Uint8Array): string {
  const known = hashes.get(piece) ?? createHash('sha512').update(piece).digest('hex')
  hashes.set(piece, known)
  return known
}

/** A group in which there are other resources than the built-in ones. */
interface CustomGroup {
  /** The same for as long as the group is. */
  readonly key: object
  /** The group alone. */
  catalogue(): Catalogue
}

function customGroups({ catalogue, builtInCatalogue }: OpenApiParts): CustomGroup[] {
  const builtIn = new Set(builtInCatalogue.groups)
  return catalogue.groups.flatMap((group) => (builtIn.has(group) ? [] : [customGroup(catalogue, group)]))
}

function customGroup(catalogue: Catalogue, group: Group): CustomGroup {
  return { key: group, catalogue: () => onlyGroup(catalogue, group.name) }
}

/** Hashes of the OpenAPI 3 documents that are served, by their names, in the order of these. Those of a group are made once. */
export async function openApi3Hashes(parts: OpenApiParts): Promise<ReadonlyMap<string, string>> {
  const { builtInCatalogue } = parts
  const all = [...(await hashesOf(parts, builtInCatalogue, builtInCatalogue))]
  for (const group of customGroups(parts)) {
    const known = hashes3.get(group.key)
    for (const one of known ?? (await hashesOf(parts, group.key, group.catalogue()))) all.push(one)
  }
  return new Map(all.sort(([left], [right]) => (left < right ? -1 : 1)))
}

const hashes3 = new WeakMap<object, ReadonlyMap<string, string>>()

/** The documents of one group of custom resources, or of all built-in ones. */
async function hashesOf(parts: OpenApiParts, key: object, catalogue: Catalogue): Promise<ReadonlyMap<string, string>> {
  const known = hashes3.get(key)
  if (known !== undefined) return known
  const names = openApi3Names(catalogue, openApiOptions(parts))
  const hashes = new Map<string, string>()
  // What is beside groups is in every catalogue, and is listed with the built-in ones.
  const isOwn = (name: string): boolean => key === catalogue || name.startsWith('apis/')
  for (const name of names) if (isOwn(name)) hashes.set(name, (await openApi3File(parts, name))?.hash ?? '')
  hashes3.set(key, hashes)
  return hashes
}

const files3 = new WeakMap<object, Map<string, () => Promise<OpenApiFile>>>()

/** An OpenAPI 3 document, made as the files of OpenAPI 2; undefined where none has this name. */
export async function openApi3File(parts: OpenApiParts, name: string): Promise<OpenApiFile | undefined> {
  const { builtInCatalogue, clock, version, pace } = parts
  const [root, group = ''] = name.split('/')
  const found = root === 'apis' ? parts.catalogue.groups.find((one) => one.name === group) : undefined
  const custom = found === undefined || builtInCatalogue.groups.includes(found) ? undefined : customGroup(parts.catalogue, found)
  const key = custom?.key ?? builtInCatalogue
  const files = files3.get(key) ?? new Map<string, () => Promise<OpenApiFile>>()
  files3.set(key, files)
  const known = files.get(name)
  if (known !== undefined) return known()
  const catalogue = custom?.catalogue() ?? builtInCatalogue
  const options = openApiOptions(parts)
  if (!openApi3Names(catalogue, options).includes(name)) return undefined
  const wanted = { ...options, name, serverVersion: version.gitVersion }
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
