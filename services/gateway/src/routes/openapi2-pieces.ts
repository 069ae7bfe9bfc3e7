import { createHash } from 'node:crypto'
import { type Group, onlyGroup } from '@orch/core/catalogue'
import {
  encodeDefinitionsInSteps,
  encodePathsInSteps,
  type OpenApi2,
  openApi2DefinitionsInSteps,
  openApi2DocumentInSteps,
  openApi2PathsInSteps,
  openApi2PathsKey,
  printOpenApiInSteps,
} from '@orch/core/openapi'
import type { Steps } from '@orch/core/steps'
import { keptOnce, once } from './made-once.ts'
import { type BuiltInParts, builtInParts, definitionsOf, hashOf, type OpenApiParts, openApiOptions, resourcesOf } from './openapi-parts.ts'

const documents2 = new WeakMap<object, () => Promise<OpenApi2>>()

/** The document of the built-in kinds. */
export function document2(parts: BuiltInParts): Promise<OpenApi2> {
  const { builtInCatalogue: catalogue, version, pace } = parts
  const options = openApiOptions(parts)
  const make = documents2.get(catalogue) ?? once(() => pace.run(openApi2DocumentInSteps(catalogue, version.gitVersion, options)))
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
  readonly encoded: () => Added2 | Promise<Added2>
}

/** What is added to the maps of the document, in one of its forms. */
export interface Added2 {
  readonly paths: Uint8Array
  readonly definitions: Uint8Array
}

/** What is added in JSON. */
interface Texts2 extends Added2 {
  /** Of the definitions. */
  readonly names: readonly string[]
}

/** Makes what a group adds, once. */
export type PieceMaker2 = () => Piece2 | Promise<Piece2>

const pieces2 = new WeakMap<Group, PieceMaker2>()

/** The maker of a group's addition to OpenAPI 2: one for each group. */
export function pieceMaker2(parts: OpenApiParts, group: Group): PieceMaker2 {
  const make = pieces2.get(group) ?? createPieceMaker2(parts, group)
  pieces2.set(group, make)
  return make
}

/** What is kept with a group knows nothing of the other groups: these come and go. */
function createPieceMaker2(parts: OpenApiParts, group: Group): PieceMaker2 {
  const builtIn = builtInParts(parts)
  const { pace } = builtIn
  const only = onlyGroup(parts.catalogue, group)
  const last = lastBytes(builtIn, group.name)
  const add = async ({ ofPaths, ofDefinitions }: Form2, before: Last2 | undefined) => {
    const beside = await document2(builtIn)
    // A thousand groups may start in one turn of the event loop.
    await pace.turn()
    const options = { ...openApiOptions(builtIn), beside }
    const described = async () => {
      const { paths, types } = await pace.runBriefly(openApi2PathsInSteps(only, options))
      const bytes = await pace.runBriefly(ofPaths(paths))
      return { key, types, paths: sameOr(bytes, before?.paths) }
    }
    const key = openApi2PathsKey(only)
    // Most changes of a definition leave its paths as they were.
    const { paths, types } = before?.key === key ? before : await described()
    const members = membersBeside(await pace.runBriefly(openApi2DefinitionsInSteps(only, types, options)), beside.definitions)
    const definitions = sameOr(await pace.runBriefly(ofDefinitions(members)), before?.definitions)
    return { added: { key, types, paths, definitions }, names: Object.keys(members) }
  }
  const texts = keptOnce(async () => {
    const { added, names } = await add(texts2, last.texts)
    last.texts = added
    return { ...added, names }
  })
  const encoded = keptOnce(async () => {
    const { added } = await add(encoded2, last.encoded)
    last.encoded = added
    return added
  })
  const facts = definitionsOf(resourcesOf(parts, group))
  if (facts === undefined) return keptOnce(async () => ({ hash: hashOfTexts(await texts()), texts, encoded }))
  const piece = { hash: hashOfPieces([Buffer.from(JSON.stringify([group.name, group.versions, facts]))]), texts, encoded }
  return () => piece
}

/** How the addition of a group is encoded. */
interface Form2 {
  readonly ofPaths: (paths: OpenApi2['paths']) => Steps<Uint8Array>
  readonly ofDefinitions: (definitions: OpenApi2['definitions']) => Steps<Uint8Array>
}

const texts2: Form2 = { ofPaths: followingInSteps, ofDefinitions: followingInSteps }
const encoded2: Form2 = { ofPaths: encodePathsInSteps, ofDefinitions: encodeDefinitionsInSteps }

/** The last addition of a group in one form. */
interface Last2 extends Added2 {
  /** Of its paths. */
  readonly key: string
  /** The types that the paths name. */
  readonly types: readonly string[]
}

/** What was made last of a group, in both forms. */
interface LastBytes {
  texts?: Last2
  encoded?: Last2
}

const lastOfGroups = new WeakMap<object, Map<string, LastBytes>>()

function lastBytes({ builtInCatalogue }: BuiltInParts, group: string): LastBytes {
  const all = lastOfGroups.get(builtInCatalogue) ?? new Map<string, LastBytes>()
  lastOfGroups.set(builtInCatalogue, all)
  const last = all.get(group) ?? {}
  all.set(group, last)
  return last
}

/** The known bytes where both are equal: those are compressed already. */
function sameOr(bytes: Uint8Array, known: Uint8Array = nothing): Uint8Array {
  return Buffer.compare(bytes, known) === 0 ? known : bytes
}

/** Forgets groups that are not there any more, once they are as many as those that are. */
export function forgetBytes({ builtInCatalogue }: BuiltInParts, groups: readonly Group[]): void {
  const all = lastOfGroups.get(builtInCatalogue)
  if (all === undefined || all.size <= 2 * groups.length + groupsKeptMin) return
  const there = new Set(groups.map(({ name }) => name))
  for (const name of all.keys()) if (!there.has(name)) all.delete(name)
}

const groupsKeptMin = 16

function hashOfTexts({ paths, definitions }: Added2): string {
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

/** The members of a map as they follow others. */
function* followingInSteps(members: object): Steps<Uint8Array> {
  return following(yield* membersInSteps(members))
}

/** No bytes. */
export const nothing = new Uint8Array()

/** Members that follow others. */
export function following(members: Uint8Array): Uint8Array {
  return members.length === 0 ? members : Buffer.concat([comma, members])
}

/** The hash of what is joined of several: each of them is hashed once. */
export function hashOfHashes(parts: readonly Hashed[]): string {
  return hashOf(parts.map(({ hash }) => hash).join(' '))
}

/** A short one: those of a thousand groups are hashed together after each change. */
export function hashOfPieces(pieces: readonly Uint8Array[]): string {
  const hash = createHash('sha256')
  for (const piece of pieces) hash.update(piece)
  return hash.digest('base64')
}
