import { type Group, onlyGroup } from '@orch/core/catalogue'
import { isJsonObject } from '@orch/core/json'
import { domainGroup } from '@orch/core/names'
import {
  encodeOpenApi2InSteps,
  encodeOpenApi3InSteps,
  openApi3DocumentInSteps,
  openApi3Names,
  printOpenApiInSteps,
} from '@orch/core/openapi'
import type { Steps } from '@orch/core/steps'
import { DefinitionPlaces } from '../aggregation/definition-places.ts'
import type { RemoteDocuments } from '../aggregation/remote-openapi.ts'
import type { Pieces } from '../representations/gzip-pieces.ts'
import { factsOf, hashOfDefinition } from '../texts/openapi-jobs.ts'
import type { Beside } from '../texts/openapi-part.ts'
import { allOf, once } from './made-once.ts'
import {
  type BuiltInParts,
  builtInParts,
  definitionsOf,
  hashOf,
  type OpenApiParts,
  openApiOptions,
  presentParts,
  resourcesOf,
} from './openapi-parts.ts'
import {
  document2,
  following,
  forgetBytes,
  type Hashed,
  hashOfHashes,
  hashOfPieces,
  membersInSteps,
  nothing,
  type Piece2,
} from './openapi2-pieces.ts'
import { joinedGroups2, joinedPieces2 } from './openapi2-runs.ts'

/** One OpenAPI document as it is sent. */
export interface OpenApiFile {
  readonly bytes: Uint8Array
  readonly hash: string
  readonly madeMs: number
}

/** A document in pieces, of which a change remakes some. */
export interface OpenApi2File extends Omit<OpenApiFile, 'bytes'> {
  readonly pieces: Pieces
}

/** The OpenAPI 2 document in its two forms. */
export interface OpenApi2Files {
  json(): Promise<OpenApi2File>
  encoded(): Promise<OpenApi2File>
}

const files2 = new WeakMap<object, OpenApi2Files>()

/**
 * The files of OpenAPI 2: each is made in steps at the first question for it, once for all who ask meanwhile. What custom resources
 * add is made for each group alone, and sent as they are.
 */
export function openApi2Files(live: OpenApiParts): OpenApi2Files {
  const parts = presentParts(live)
  const { catalogue, builtInCatalogue, remoteOpenApi } = parts
  const remote = remoteOpenApi.all
  const made = remote.length === 0 ? files2 : (withRemote2.get(remote) ?? new WeakMap<object, OpenApi2Files>())
  if (remote.length > 0) withRemote2.set(remote, made)
  const known = made.get(catalogue)
  if (known !== undefined) return known
  const files = catalogue === builtInCatalogue && remote.length === 0 ? wholeFiles2(builtInParts(parts)) : joinedFiles2(parts)
  made.set(catalogue, files)
  return files
}

/** The same with what other servers add, by all that is known of these. */
const withRemote2 = new WeakMap<object, WeakMap<object, OpenApi2Files>>()

function wholeFiles2(parts: BuiltInParts): OpenApi2Files {
  const { clock, pace } = parts
  return {
    json: once(async () => inOnePiece(fileOf(await pace.run(printedInSteps(await document2(parts))), clock.now()))),
    encoded: once(async () => inOnePiece(fileOf(await pace.run(encodeOpenApi2InSteps(await document2(parts))), clock.now()))),
  }
}

function inOnePiece({ bytes, ...rest }: OpenApiFile): OpenApi2File {
  return { ...rest, pieces: [[bytes]] }
}

/** The files for the built-in kinds with what each group of custom resources adds to their maps. */
function joinedFiles2(parts: OpenApiParts): OpenApi2Files {
  const { clock, remoteOpenApi } = parts
  const added = once(async () => {
    const groups = customGroups(parts)
    forgetBytes(parts, groups)
    const own = await allOf(joinedGroups2(parts, groups).map((run) => run.joined()))
    if (remoteOpenApi.all.length === 0) return own
    const ownPieces = own.flatMap((joined) => joined.pieces)
    const others = await remotePieces2(parts, ownPieces)
    return others.length === 0 ? own : [...own, joinedPieces2(others)]
  })
  return {
    json: once(async () => {
      const [base, all] = [await baseText2(parts), await added()]
      const lists = await allOf(all.map((joined) => joined.texts()))
      const [paths, definitions] = [lists.map((list) => list.paths), lists.map((list) => list.definitions)]
      const pieces = [base.paths, ...paths, base.definitions, ...definitions, base.back]
      return { pieces, hash: hashOfHashes([base, ...all]), madeMs: clock.now() }
    }),
    encoded: once(async () => {
      const [base, all] = [await baseEncoded2(parts), await added()]
      const lists = await allOf(all.map((joined) => joined.encoded()))
      const [paths, definitions] = [lists.map((list) => list.paths), lists.map((list) => list.definitions)]
      return { pieces: [...base.pieces, ...paths, ...definitions], hash: hashOfHashes([base, ...all]), madeMs: clock.now() }
    }),
  }
}

/** The document of the built-in kinds as lists of pieces: groups add paths behind the first, and definitions behind the second. */
interface Text2 extends Hashed {
  readonly paths: readonly Uint8Array[]
  readonly definitions: readonly Uint8Array[]
  readonly back: readonly Uint8Array[]
}

const texts2 = new WeakMap<object, () => Promise<Text2>>()

function baseText2(parts: OpenApiParts): Promise<Text2> {
  const builtIn = builtInParts(parts)
  const { builtInCatalogue, pace } = builtIn
  const make =
    texts2.get(builtInCatalogue) ??
    once(async () => {
      const { paths, definitions, swagger, info, ...rest } = await document2(builtIn)
      const opened = JSON.stringify({ swagger, info })
      const text = {
        paths: [Buffer.from(`${opened.slice(0, -1)},"paths":{`), await pace.run(membersInSteps(paths))],
        definitions: [Buffer.from('},"definitions":{'), await pace.run(membersInSteps(definitions))],
        back: [Buffer.from(`},${JSON.stringify(rest).slice(1)}\n`)],
      }
      return { ...text, hash: hashOfPieces(Object.values(text).flat()) }
    })
  texts2.set(builtInCatalogue, make)
  return make()
}

const encoded2 = new WeakMap<object, OpenApi2Files>()

function baseEncoded2(parts: OpenApiParts): Promise<OpenApi2File> {
  const files = encoded2.get(parts.builtInCatalogue) ?? wholeFiles2(builtInParts(parts))
  encoded2.set(parts.builtInCatalogue, files)
  return files.encoded()
}

interface RemotePiece2 {
  /** What the piece was made for. */
  readonly key: string
  readonly piece: Promise<Piece2>
}

const remotePieces = new WeakMap<RemoteDocuments, RemotePiece2>()

/** What other servers add. Definitions of a name that is taken here, or by another of them, by another content have names of their own. */
async function remotePieces2(parts: OpenApiParts, own: readonly Piece2[]): Promise<Piece2[]> {
  const base = await document2(parts)
  const names = new Set((await allOf(own.map((piece) => piece.texts()))).flatMap((piece) => piece.names))
  const places = new DefinitionPlaces((name) => {
    if (names.has(name)) return 'custom'
    return Object.hasOwn(base.definitions, name) ? hashOfDefinition(base.definitions[name]) : undefined
  })
  const made: Promise<Piece2>[] = []
  for (const remote of parts.remoteOpenApi.all) {
    // Built-in paths of this server are its own.
    if (remote.part2 === undefined || Object.hasOwn(base.paths, `/${remote.name}/`)) continue
    const facts = factsOf(remote.part2)
    await parts.pace.turn()
    made.push(remotePiece2(parts, remote, places.add(facts)))
  }
  return Promise.all(made)
}

function remotePiece2(parts: OpenApiParts, remote: RemoteDocuments, beside: Beside): Promise<Piece2> {
  const key = JSON.stringify([[...beside.without], [...beside.renamed]])
  const known = remotePieces.get(remote)
  if (known?.key === key) return known.piece
  const piece = joinedPiece2(parts, remote, beside)
  remotePieces.set(remote, { key, piece })
  piece.catch(() => remotePieces.delete(remote))
  return piece
}

async function joinedPiece2(parts: OpenApiParts, { part2 }: RemoteDocuments, beside: Beside): Promise<Piece2> {
  const { info } = await document2(parts)
  const bytes = part2?.bytes ?? new Uint8Array()
  const joined = await parts.remoteOpenApi.thread.join({ kind: 'joinOpenApi', bytes, beside, info })
  const { paths, definitions, encoded } = joined
  const hash = hashOf(`${part2?.hash} ${JSON.stringify([[...beside.without], [...beside.renamed]])}`)
  const texts = { names: [], paths: following(paths), definitions: following(definitions) }
  const added = { paths: encoded, definitions: nothing }
  return {
    hash,
    texts: () => texts,
    encoded: () => added,
  }
}

/**
 * The groups in which there are other resources than the built-in ones, without the versions that other servers serve. Each is the same
 * value for as long as it and what is left of it are the same.
 */
function customGroups({ catalogue, builtInCatalogue, remoteOpenApi }: OpenApiParts): readonly Group[] {
  const custom = without(catalogue.groups, builtInCatalogue.groups)
  if (remoteOpenApi.all.length === 0) return custom
  const remote = new Set(remoteOpenApi.all.map(({ name }) => name))
  return custom.map((group) => servedHere(group, remote)).filter(({ versions }) => versions.length > 0)
}

/** Groups without the built-in ones, which stand in front in the same order: there may be thousands behind them, which are not looked at. */
function without(groups: readonly Group[], builtIn: readonly Group[]): readonly Group[] {
  const inFront = groups.findIndex(({ name }) => name === builtIn.at(-1)?.name) + 1
  return [...groups.slice(0, inFront).filter((group) => !builtIn.includes(group)), ...groups.slice(inFront)]
}

/** The same for one group; undefined: all of it is built in, or served by others. */
function customGroup({ builtInCatalogue, remoteOpenApi }: OpenApiParts, whole: Group): Group | undefined {
  if (builtInCatalogue.groups.includes(whole)) return undefined
  const group = servedHere(whole, new Set(remoteOpenApi.all.map(({ name }) => name)))
  return group.versions.length === 0 ? undefined : group
}

const partialGroups = new WeakMap<Group, Map<string, Group>>()

function servedHere(whole: Group, remote: ReadonlySet<string>): Group {
  const { name } = whole
  const versions = whole.versions.filter((version) => !remote.has(`apis/${name}/${version}`))
  if (versions.length === whole.versions.length) return whole
  const known = partialGroups.get(whole) ?? new Map<string, Group>()
  partialGroups.set(whole, known)
  const group = known.get(versions.join()) ?? { name, versions }
  known.set(versions.join(), group)
  return group
}

/** A document of OpenAPI 3 as the index lists it. */
export interface OpenApi3Listed {
  readonly name: string
  readonly hash: string
}

/** The OpenAPI 3 documents that are served, in the order of their names. What is known of a group stays the same values. */
export async function openApi3Documents(live: OpenApiParts): Promise<readonly OpenApi3Listed[]> {
  const parts = presentParts(live)
  const listed = [...(await builtInDocuments(parts))]
  for (const group of customGroups(parts)) listed.push(...(listed3.get(group) ?? (await customDocuments(parts, group))))
  listed.sort(byName)
  // A group that has custom resources beside built-in ones is listed twice, the whole of it behind.
  return listed.filter(({ name }, index) => listed[index + 1]?.name !== name)
}

const listed3 = new WeakMap<object, readonly OpenApi3Listed[]>()

async function builtInDocuments(parts: OpenApiParts): Promise<readonly OpenApi3Listed[]> {
  const { builtInCatalogue } = parts
  const known = listed3.get(builtInCatalogue)
  if (known !== undefined) return known
  const listed: OpenApi3Listed[] = []
  for (const name of openApi3Names(builtInCatalogue, openApiOptions(parts))) {
    const file = await openApi3File(parts, name)
    listed.push({ name, hash: file?.hash ?? '' })
  }
  listed3.set(builtInCatalogue, listed)
  return listed
}

async function customDocuments(parts: OpenApiParts, group: Group): Promise<readonly OpenApi3Listed[]> {
  const listed: OpenApi3Listed[] = []
  for (const name of customNames(group)) {
    const hash = (await customHash(parts, group, name)) ?? (await openApi3File(parts, name))?.hash
    listed.push({ name, hash: hash ?? '' })
  }
  listed3.set(group, listed)
  return listed
}

function byName({ name: left }: OpenApi3Listed, { name: right }: OpenApi3Listed): number {
  return left === right ? 0 : left < right ? -1 : 1
}

/** What is beside groups is in every catalogue, and is listed with the built-in ones. */
function customNames({ name, versions }: Group): readonly string[] {
  return [`apis/${name}`, ...versions.map((version) => `apis/${name}/${version}`)]
}

/**
 * Changes when a document of custom resources does, without the document: that is made when it is asked for. Undefined where resources
 * in it come from no definition. The hash of a built-in document says how documents are made.
 */
async function customHash(parts: OpenApiParts, group: Group, name: string): Promise<string | undefined> {
  const { builtInCatalogue, version } = parts
  const [, groupName = '', ofVersion] = name.split('/')
  const sources = definitionsOf(resourcesOf(parts, group).filter((resource) => ofVersion === undefined || resource.version === ofVersion))
  if (sources === undefined) return undefined
  const made = await openApi3File(parts, `apis/${domainGroup(builtInCatalogue.names, 'apiextensions')}/v1`)
  const facts = [name, groupName, group.versions, sources, openApiOptions(parts), version.gitVersion, made?.hash]
  return hashOf(JSON.stringify(facts))
}

const encodedFiles3 = new WeakMap<OpenApiFile, () => Promise<OpenApiFile>>()

/** An OpenAPI 3 document in Protobuf, of the same hash. Made of its JSON at the first question, and kept with it. */
export function encodedFile3(file: OpenApiFile, { pace }: Pick<OpenApiParts, 'pace'>): Promise<OpenApiFile> {
  const encode = encodedFiles3.get(file) ?? once(async () => ({ ...file, bytes: await pace.run(encodeOpenApi3InSteps(parseFile(file))) }))
  encodedFiles3.set(file, encode)
  return encode()
}

function parseFile({ bytes }: OpenApiFile): Record<string, unknown> {
  const document: unknown = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString())
  return isJsonObject(document) ? document : {}
}

const files3 = new WeakMap<object, Map<string, () => Promise<OpenApiFile>>>()

/** An OpenAPI 3 document, made as the files of OpenAPI 2; undefined where none has this name. */
export async function openApi3File(live: OpenApiParts, name: string): Promise<OpenApiFile | undefined> {
  const parts = presentParts(live)
  const remote = parts.remoteOpenApi.all.find((one) => one.name === name)
  if (remote !== undefined) return remote.file3
  const { builtInCatalogue, clock, version, pace } = parts
  const [root, group = ''] = name.split('/')
  const found = root === 'apis' ? parts.catalogue.group(group) : undefined
  const custom = found === undefined ? undefined : customGroup(parts, found)
  const key = custom ?? builtInCatalogue
  const files = files3.get(key) ?? new Map<string, () => Promise<OpenApiFile>>()
  files3.set(key, files)
  const known = files.get(name)
  if (known !== undefined) return known()
  const options = openApiOptions(parts)
  const names = custom === undefined ? openApi3Names(builtInCatalogue, options) : customNames(custom)
  if (!names.includes(name)) return undefined
  const wanted = { ...options, name, serverVersion: version.gitVersion }
  const catalogue = custom === undefined ? builtInCatalogue : onlyGroup(parts.catalogue, custom)
  // The maker is cached with the group: it must not refer to the whole catalogue.
  const ofGroup = { ...builtInParts(parts), catalogue, remoteOpenApi: live.remoteOpenApi }
  const make = once(async () => {
    const document = await pace.run(openApi3DocumentInSteps(catalogue, wanted))
    const file = fileOf(await pace.run(printedInSteps(document)), clock.now())
    const hash = custom === undefined ? undefined : await customHash(ofGroup, custom, name)
    return hash === undefined ? file : { ...file, hash }
  })
  files.set(name, make)
  return make()
}

function* printedInSteps(document: object): Steps<Uint8Array> {
  const text = yield* printOpenApiInSteps(document)
  yield
  const bytes = Buffer.from(`${text}\n`)
  yield
  return bytes
}

function fileOf(bytes: Uint8Array, madeMs: number): OpenApiFile {
  return { bytes, hash: hashOf(bytes), madeMs }
}
