import { createHash } from 'node:crypto'
import { createCatalogue, withGroups } from '@orch/core/catalogue'
import { encodeOpenApi2, openApi2Document, openApi3Document } from '@orch/core/openapi'
import { createFakeClock } from '@orch/testkit'
import { expect, test } from 'vitest'
import { OpenApiThread } from '../aggregation/openapi-thread.ts'
import { Pace } from '../request/pace.ts'
import { type OpenApi2File, type OpenApiFile, openApi2Files, openApi3Documents, openApi3File } from './openapi-files.ts'

const version = 'v1.25.0'

/** Counts the steps that it lets be taken. */
class CountedPace extends Pace {
  turns = 0

  override turn(): Promise<void> {
    this.turns += 1
    return super.turn()
  }
}

/** Each has a catalogue of its own, so that no file has been made before. */
function theParts() {
  const catalogue = createCatalogue('orch')
  return {
    authentication: { issuer: undefined },
    remoteOpenApi: { all: [], thread: new OpenApiThread() },
    catalogue,
    builtInCatalogue: catalogue,
    clock: createFakeClock(),
    version: { gitVersion: version },
    pace: new CountedPace(),
  }
}

const bytesOf = ({ pieces }: OpenApi2File): Buffer => Buffer.concat(pieces.flat())
const textOf = ({ bytes }: OpenApiFile): string => Buffer.from(bytes).toString()

test('LIM-12, ADDR-18: the OpenAPI 2 document is made in steps with others in between, once for all callers', async () => {
  const parts = theParts()
  let others = 0
  let isMade = false
  const other = () => {
    others += 1
    if (!isMade) setImmediate(other)
  }
  setImmediate(other)
  const { json, encoded } = openApi2Files(parts)
  const [first, second, protobuf] = await Promise.all([json(), json(), encoded()])
  isMade = true
  expect(second).toBe(first)
  const { turns } = parts.pace
  expect(turns).toBeGreaterThan(100)
  expect(others).toBeGreaterThan(turns / 2)
  const atOnce = openApi2Document(parts.catalogue, version, { hasIssuer: false })
  expect(bytesOf(first).toString() === `${JSON.stringify(atOnce)}\n`).toBe(true)
  expect(Buffer.compare(bytesOf(protobuf), encodeOpenApi2(atOnce))).toBe(0)
  expect(first.hash).toBe(createHash('sha512').update(bytesOf(first)).digest('hex').toUpperCase())
  expect(await openApi2Files(parts).json()).toBe(first)
  expect(parts.pace.turns).toBe(turns)
})

test('LIM-12, ADDR-18: OpenAPI 3 documents are made in steps, once for all callers, and equal those made in one step', async () => {
  const parts = theParts()
  for (const { name } of await openApi3Documents(parts)) {
    const [first, second] = await Promise.all([openApi3File(parts, name), openApi3File(parts, name)])
    expect(second).toBe(first)
    const atOnce = openApi3Document(parts.catalogue, { name, serverVersion: version, hasIssuer: false })
    expect(first !== undefined && textOf(first) === `${JSON.stringify(atOnce)}\n`).toBe(true)
  }
  const { turns } = parts.pace
  expect(turns).toBeGreaterThan((await openApi3Documents(parts)).length * 2)
  await openApi3File(parts, 'api/v1')
  expect(parts.pace.turns).toBe(turns)
  expect(await openApi3File(parts, 'apis/none/v1')).toBeUndefined()
})

test('LIM-12: an OpenAPI document that could not be made is made at the next question', async () => {
  const parts = theParts()
  const { turn } = parts.pace
  parts.pace.turn = () => Promise.reject(new Error('no'))
  await expect(openApi2Files(parts).json()).rejects.toThrow('no')
  await expect(openApi3File(parts, 'api/v1')).rejects.toThrow('no')
  parts.pace.turn = turn
  expect(bytesOf(await openApi2Files(parts).json()).toString()).toContain('"swagger":"2.0"')
  expect((await openApi3File(parts, 'api/v1'))?.hash).toMatch(/^[0-9A-F]{128}$/)
})

/** The parts with one group of custom resources more, which are as Pods are, and of which the definition says this. */
function withGroup(parts: ReturnType<typeof theParts>, name: string, ...definedBy: readonly (string | undefined)[]) {
  const [pods] = parts.builtInCatalogue.inGroupVersion('', 'v1')
  if (pods === undefined) throw new Error('there are no Pods')
  const resources = definedBy.map((text, index) => {
    const version = `v${index + 1}`
    return { ...pods, group: name, version, apiVersion: `${name}/${version}`, ...(text !== undefined && { definedBy: text }) }
  })
  const versions = resources.map(({ version }) => version)
  return { ...parts, catalogue: withGroups(parts.catalogue, [{ name, versions, resources }]) }
}

const hashesOf = async (parts: ReturnType<typeof theParts>) =>
  new Map((await openApi3Documents(parts)).map(({ name, hash }) => [name, hash] as const))

test('CRD-149: the index lists documents of custom resources by their definitions, and makes none of them', async () => {
  const builtIn = theParts()
  await openApi3Documents(builtIn)
  const { turns } = builtIn.pace
  const one = withGroup(builtIn, 'a.example.com', 'first', 'second')
  const hashes = await hashesOf(one)
  expect(builtIn.pace.turns).toBe(turns)
  const names = ['apis/a.example.com', 'apis/a.example.com/v1', 'apis/a.example.com/v2']
  expect([...hashes.keys()].filter((name) => name.includes('example'))).toEqual(names)
  expect([...hashes.keys()]).toEqual([...hashes.keys()].sort())
  expect(new Set(hashes.values()).size).toBe(hashes.size)
  for (const name of names) expect((await openApi3File(one, name))?.hash).toBe(hashes.get(name))
  expect(builtIn.pace.turns).toBeGreaterThan(turns)
})

test('CRD-149: a document of custom resources has another hash when its definition changes, and the same hash otherwise', async () => {
  const builtIn = theParts()
  const before = await hashesOf(withGroup(builtIn, 'a.example.com', 'first', 'second'))
  const again = await hashesOf(withGroup(builtIn, 'a.example.com', 'first', 'second'))
  expect([...again]).toEqual([...before])
  const after = await hashesOf(withGroup(withGroup(builtIn, 'b.example.com', 'third'), 'a.example.com', 'first', 'changed'))
  const changed = [...before].filter(([name, hash]) => after.get(name) !== hash).map(([name]) => name)
  expect(changed).toEqual(['apis/a.example.com', 'apis/a.example.com/v2'])
  const older = await hashesOf({ ...withGroup(builtIn, 'a.example.com', 'first', 'second'), version: { gitVersion: 'v1.26.0' } })
  expect(older.get('apis/a.example.com/v1')).not.toBe(before.get('apis/a.example.com/v1'))
})

test('CRD-149: a document with resources of no definition has the hash of its content', async () => {
  const parts = withGroup(theParts(), 'a.example.com', 'first', undefined)
  const file = await openApi3File(parts, 'apis/a.example.com/v2')
  expect(file?.hash).toBe(
    createHash('sha512')
      .update(file?.bytes ?? '')
      .digest('hex')
      .toUpperCase(),
  )
  expect((await hashesOf(parts)).get('apis/a.example.com/v2')).toBe(file?.hash)
})

test('CRD-149: OpenAPI 2 keeps the pieces of other groups after a change, and the addition has its own', async () => {
  const one = withGroup(withGroup(theParts(), 'a.example.com', 'first'), 'b.example.com', 'second')
  const two = withGroup(one, 'b.example.com', 'changed')
  for (const form of ['json', 'encoded'] as const) {
    const [before, after] = [await openApi2Files(one)[form](), await openApi2Files(two)[form]()]
    expect(after.pieces.flat().filter((piece) => !before.pieces.flat().includes(piece)).length).toBeLessThanOrEqual(2)
    expect(after.pieces.flat().length).toBe(before.pieces.flat().length)
    expect(bytesOf(after).equals(bytesOf(before))).toBe(true)
  }
  const { json } = openApi2Files(withGroup(one, 'c.example.com', 'third'))
  expect((await json()).hash).not.toBe((await openApi2Files(one).json()).hash)
  expect(Object.keys(JSON.parse(bytesOf(await json()).toString()).paths)).toContain('/apis/c.example.com/v1/')
})

test('CRD-149: unchanged parts are the same bytes after a change, so that they need not be compressed again', async () => {
  const one = withGroup(withGroup(theParts(), 'a.example.com', 'first'), 'b.example.com', 'second')
  for (const form of ['json', 'encoded'] as const) {
    const before = await openApi2Files(one)[form]()
    const after = await openApi2Files(withGroup(one, 'b.example.com', 'changed'))[form]()
    expect(after.hash).not.toBe(before.hash)
    const known = before.pieces.flat()
    expect(after.pieces.flat().every((piece, index) => piece === known[index])).toBe(true)
  }
})

test('CRD-149: the lists of other groups are the same after a change of one group of many, so that they need not be joined again', async () => {
  let parts = theParts()
  for (let index = 0; index < 200; index++) parts = withGroup(parts, `g${index}.example.com`, 'some')
  const listsOf = async (form: 'json' | 'encoded') => (await openApi2Files(parts)[form]()).pieces
  const before = { json: await listsOf('json'), encoded: await listsOf('encoded') }
  parts = withGroup(parts, 'g100.example.com', 'changed')
  const changed = { json: await listsOf('json'), encoded: await listsOf('encoded') }
  parts = withGroup(parts, 'new.example.com', 'some')
  const added = { json: await listsOf('json'), encoded: await listsOf('encoded') }
  for (const form of ['json', 'encoded'] as const) {
    const others = (lists: Lists, known: Lists) => lists.filter((list) => !known.includes(list)).length
    expect(before[form].length).toBeGreaterThan(6)
    // Of a run: its paths, and its definitions.
    expect(others(changed[form], before[form])).toBe(2)
    expect(others(added[form], changed[form])).toBe(2)
  }
})

type Lists = OpenApi2File['pieces']

test('CRD-149: both forms of a changed group equal those of a server that begins with it, for any change', async () => {
  const builtIn = theParts()
  let parts = withGroup(builtIn, 'a.example.com', 'first')
  const states = [['changed'], ['changed', 'second'], ['second'], ['first'], [undefined], ['first']]
  for (const definedBy of states) {
    parts = withGroup(parts, 'a.example.com', ...definedBy)
    const fresh = withGroup(theParts(), 'a.example.com', ...definedBy)
    for (const form of ['json', 'encoded'] as const) {
      const [file, whole] = [await openApi2Files(parts)[form](), await openApi2Files(fresh)[form]()]
      expect(bytesOf(file).equals(bytesOf(whole))).toBe(true)
      expect(file.hash).toBe(whole.hash)
    }
  }
})

test('CRD-149: a version or a group that is not served any more is in neither form of OpenAPI 2', async () => {
  const one = withGroup(withGroup(theParts(), 'a.example.com', 'first'), 'b.example.com', 'second', 'third')
  const withoutVersion = withGroup(one, 'b.example.com', 'second')
  const withoutGroup = withGroup(one, 'b.example.com')
  for (const form of ['json', 'encoded'] as const) {
    const has = async (parts: typeof one, path: string) => bytesOf(await openApi2Files(parts)[form]()).includes(path)
    expect(await has(one, '/apis/b.example.com/v2/')).toBe(true)
    expect(await has(withoutVersion, '/apis/b.example.com/v1/')).toBe(true)
    expect(await has(withoutVersion, '/apis/b.example.com/v2/')).toBe(false)
    expect(await has(withoutGroup, 'b.example.com')).toBe(false)
    expect(await has(withoutGroup, '/apis/a.example.com/v1/')).toBe(true)
    const [hashes, files] = [new Set<string>(), [one, withoutVersion, withoutGroup].map((parts) => openApi2Files(parts)[form]())]
    for (const { hash } of await Promise.all(files)) hashes.add(hash)
    expect(hashes.size).toBe(3)
  }
})

test('CRD-149: parallel OpenAPI 2 files of several states have each their own state’s contents', async () => {
  const one = withGroup(theParts(), 'a.example.com', 'first')
  const states = [one, withGroup(one, 'a.example.com', 'first', 'second'), withGroup(one, 'a.example.com', 'changed'), one]
  const [first, two, changed, again] = await Promise.all(states.map((parts) => openApi2Files(parts).json()))
  const pathsOf = (file: OpenApi2File | undefined) => Object.keys(JSON.parse(file === undefined ? '{}' : bytesOf(file).toString()).paths)
  const ofGroup = (file: OpenApi2File | undefined) => pathsOf(file).filter((path) => /^\/apis\/a\.example\.com\/v\d\/$/.test(path))
  expect(ofGroup(first)).toEqual(['/apis/a.example.com/v1/'])
  expect(ofGroup(two)).toEqual(['/apis/a.example.com/v1/', '/apis/a.example.com/v2/'])
  expect(ofGroup(changed)).toEqual(['/apis/a.example.com/v1/'])
  expect(again).toBe(first)
})

test.each(['json', 'encoded'] as const)(
  'a document (%s) is of the state in which it was asked for, whatever changes while it is made',
  async (form) => {
    const first = withGroup(theParts(), 'a.example.com', 'first')
    const second = withGroup(first, 'b.example.com', 'second')
    let catalogue = first.catalogue
    const live = {
      ...first,
      get catalogue() {
        return catalogue
      },
    }
    const asked = openApi2Files(live)[form]()
    const index = openApi3Documents(live)
    catalogue = second.catalogue
    expect(bytesOf(await asked).includes('b.example.com')).toBe(false)
    expect((await index).map(({ name }) => name)).not.toContain('apis/b.example.com/v1')
    expect(bytesOf(await openApi2Files(live)[form]()).includes('b.example.com')).toBe(true)
  },
)

test('CRD-149: bytes of groups that are not served any more are forgotten, and made again when they are', async () => {
  const parts = theParts()
  const made = async (index: number) => (await openApi2Files(withGroup(parts, `g${index}.example.com`, 'some')).json()).pieces.flat()
  const first = await made(0)
  expect((await made(0)).every((piece, index) => piece === first[index])).toBe(true)
  for (let index = 1; index < 20; index++) await made(index)
  const again = await made(0)
  expect(again.filter((piece, index) => piece !== first[index]).length).toBe(1)
  expect(Buffer.concat(again).equals(Buffer.concat(first))).toBe(true)
})
