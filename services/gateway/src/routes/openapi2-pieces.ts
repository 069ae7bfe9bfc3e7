import { createHash } from 'node:crypto'
import { type Group, onlyGroup } from '@orch/core/catalogue'
import { type EncodedAddition, encodeAddedInSteps, type OpenApi2, openApi2DocumentInSteps, printOpenApiInSteps } from '@orch/core/openapi'
import type { Steps } from '@orch/core/steps'
import { keptOnce, once } from './made-once.ts'
import { type BuiltInParts, definitionsOf, type OpenApiParts, openApiOptions, resourcesOf } from './openapi-parts.ts'

const documents2 = new WeakMap<object, () => Promise<OpenApi2>>()

/** The document of the built-in kinds. */
export function document2(parts: BuiltInParts): Promise<OpenApi2> {
  const { builtInCatalogue: catalogue, version, pace } = parts
  const make =
    documents2.get(catalogue) ?? once(() => pace.run(openApi2DocumentInSteps(catalogue, version.gitVersion, openApiOptions(parts))))
  documents2.set(catalogue, make)
  return make()
}

/** Where the hash differs, so does what it is of. */
export interface Hashed {
  readonly hash: string
}

/** What a group adds: members that follow others. Each form is made when it is asked for. */
export interface Piece2 extends Hashed {
  readonly texts: () => Texts2 | Promise<Texts2>
  readonly encoded: () => EncodedAddition | Promise<EncodedAddition>
}

/** What a group adds to the maps of the document in JSON. */
interface Texts2 extends EncodedAddition {
  /** Of the definitions. */
  readonly names: readonly string[]
}

const pieces2 = new WeakMap<Group, () => Piece2 | Promise<Piece2>>()

/** What a group adds to OpenAPI 2, made once. */
export function piece2(parts: OpenApiParts, group: Group): Piece2 | Promise<Piece2> {
  const known = pieces2.get(group)
  if (known !== undefined) return known()
  const make = pieceMaker2(parts, group)
  pieces2.set(group, make)
  return make()
}

/** What is kept with a group knows nothing of the other groups: these come and go. */
function pieceMaker2(parts: OpenApiParts, group: Group): () => Piece2 | Promise<Piece2> {
  const { authentication, builtInCatalogue, pace, version } = parts
  const builtIn = { authentication, builtInCatalogue, pace, version }
  const only = onlyGroup(parts.catalogue, group)
  const describe = async (): Promise<Pick<OpenApi2, 'paths' | 'definitions'>> => {
    const beside = await document2(builtIn)
    const options = { ...openApiOptions(builtIn), beside }
    const { paths, definitions } = await pace.run(openApi2DocumentInSteps(only, version.gitVersion, options))
    return { paths: membersBeside(paths, beside.paths), definitions: membersBeside(definitions, beside.definitions) }
  }
  const bytes = lastBytes(builtIn, group.name)
  const texts = keptOnce(async () => {
    const { paths, definitions } = await describe()
    const made = {
      paths: following(await pace.run(membersInSteps(paths))),
      definitions: following(await pace.run(membersInSteps(definitions))),
    }
    bytes.texts = asBefore(made, bytes.texts)
    return { ...bytes.texts, names: Object.keys(definitions) }
  })
  const encoded = keptOnce(async () => {
    bytes.encoded = asBefore(await pace.run(encodeAddedInSteps(await describe())), bytes.encoded)
    return bytes.encoded
  })
  const facts = definitionsOf(resourcesOf(parts, group))
  if (facts === undefined) return keptOnce(async () => ({ hash: hashOfTexts(await texts()), texts, encoded }))
  const piece = { hash: hashOfPieces([Buffer.from(JSON.stringify([group.name, group.versions, facts]))]), texts, encoded }
  return () => piece
}

/** What was made last of a group, in both forms. */
interface LastBytes {
  texts?: EncodedAddition
  encoded?: EncodedAddition
}

const lastOfGroups = new WeakMap<object, Map<string, LastBytes>>()

function lastBytes({ builtInCatalogue }: BuiltInParts, group: string): LastBytes {
  const all = lastOfGroups.get(builtInCatalogue) ?? new Map<string, LastBytes>()
  lastOfGroups.set(builtInCatalogue, all)
  const last = all.get(group) ?? {}
  all.set(group, last)
  return last
}

/** A change of a definition leaves its paths as they were: the same bytes are compressed already. */
function asBefore({ paths, definitions }: EncodedAddition, before: EncodedAddition | undefined): EncodedAddition {
  const sameOr = (bytes: Uint8Array, known: Uint8Array = nothing) => (Buffer.compare(bytes, known) === 0 ? known : bytes)
  return { paths: sameOr(paths, before?.paths), definitions: sameOr(definitions, before?.definitions) }
}

/** Forgets groups that are not there any more, once they are as many as those that are. */
export function forgetBytes({ builtInCatalogue }: BuiltInParts, groups: readonly Group[]): void {
  const all = lastOfGroups.get(builtInCatalogue)
  if (all === undefined || all.size <= 2 * groups.length + groupsKeptMin) return
  const there = new Set(groups.map(({ name }) => name))
  for (const name of all.keys()) if (!there.has(name)) all.delete(name)
}

const groupsKeptMin = 16

function hashOfTexts({ paths, definitions }: EncodedAddition): string {
  return hashOfPieces([paths, definitions])
}

function membersBeside<T>(members: Readonly<Record<string, T>>, known: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(Object.entries(members).filter(([name]) => !Object.hasOwn(known, name)))
}

/** The members of a map as they stand between its braces. */
export function* membersInSteps(members: object): Steps<Uint8Array> {
  const text = yield* printOpenApiInSteps(members, 1)
  return Buffer.from(text.slice(1, -1))
}

const comma = Buffer.from(',')

/** No bytes. */
export const nothing = new Uint8Array()

/** Members that follow others. */
export function following(members: Uint8Array): Uint8Array {
  return members.length === 0 ? members : Buffer.concat([comma, members])
}

/** A short one: those of a thousand groups are hashed together after each change. */
export function hashOfPieces(pieces: readonly Uint8Array[]): string {
  const hash = createHash('sha256')
  for (const piece of pieces) hash.update(piece)
  return hash.digest('base64')
}
