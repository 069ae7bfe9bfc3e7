import { createHash } from 'node:crypto'
import { type Catalogue, createCatalogue, withGroups } from '@orch/core/catalogue'
import { encodeOpenApi2, openApi2DocumentInSteps, openApi3DocumentInSteps } from '@orch/core/openapi'
import { runAtOnce } from '@orch/core/steps'
import { createFakeClock } from '@orch/testkit'
import { expect, test } from 'vitest'
import { OpenApiThread } from '../aggregation/remote-openapi.ts'
import { Pace } from '../request/pace.ts'
import { OpenApiDocuments } from './openapi-documents.ts'
import type { OpenApiFile } from './openapi-file.ts'

const version = 'v1.25.0'

/** Counts its steps. */
class CountedPace extends Pace {
  turns = 0

  override turn(): Promise<void> {
    this.turns += 1
    return super.turn()
  }
}

const everything = createCatalogue('orch', { minor: 37 })
const coreAlone = createCatalogue('orch', {
  minor: 37,
  runtimeConfig: {
    entries: [
      { kind: 'stability', stability: 'all', isEnabled: false },
      { kind: 'version', group: '', version: 'v1', isEnabled: true },
    ],
  },
})

/** The documents of a server with the catalogue `served`. Custom resources do not depend on the built-in groups, so by default only the core group is served. */
function aServer({ builtIn = coreAlone, gitVersion = version } = {}) {
  const pace = new CountedPace()
  const served: { catalogue: Catalogue } = { catalogue: builtIn }
  const documents = new OpenApiDocuments({
    authentication: { issuer: undefined },
    remoteOpenApi: { all: [], thread: new OpenApiThread() },
    catalogue: () => served.catalogue,
    builtInCatalogue: builtIn,
    clock: createFakeClock(),
    version: { gitVersion },
    pace,
    pathPrefix: '',
  })
  /** Serves another group of custom resources with the schema of Pods and this description. */
  const serve = (name: string, ...definedBy: readonly (string | undefined)[]) => {
    const [pods] = builtIn.inGroupVersion('', 'v1')
    if (pods === undefined) throw new Error('there are no Pods')
    const resources = definedBy.map((text, index) => {
      const one = `v${index + 1}`
      return { ...pods, group: name, version: one, apiVersion: `${name}/${one}`, ...(text !== undefined && { definedBy: text }) }
    })
    const versions = resources.map((resource) => resource.version)
    served.catalogue = withGroups(served.catalogue, [{ name, versions, resources }])
    return documents.now()
  }
  return { documents, pace, served, serve }
}

type Server = ReturnType<typeof aServer>

const forms = ['json', 'encoded'] as const
const bytesOf = ({ pieces }: OpenApiFile): Buffer => Buffer.concat(pieces)
const textOf = (file: OpenApiFile): string => bytesOf(file).toString()

/** The URLs of the documents of OpenAPI 3, by their names. */
async function urlsOf({ documents }: Server): Promise<Map<string, string>> {
  const { paths } = JSON.parse(Buffer.concat(await documents.now().index()).toString())
  return new Map(Object.entries<{ serverRelativeURL: string }>(paths).map(([name, { serverRelativeURL }]) => [name, serverRelativeURL]))
}

async function hashesOf(server: Server): Promise<Map<string, string>> {
  return new Map([...(await urlsOf(server))].map(([name, url]) => [name, url.slice(url.indexOf('=') + 1)]))
}

test('LIM-12, ADDR-18: the OpenAPI 2 document is created once for all callers, in steps between other work', async () => {
  const { documents, pace } = aServer({ builtIn: everything })
  let others = 0
  let isMade = false
  const other = () => {
    others += 1
    if (!isMade) setImmediate(other)
  }
  setImmediate(other)
  const { json, encoded } = documents.now().file2
  const [first, second, protobuf] = await Promise.all([json(), json(), encoded()])
  isMade = true
  expect(second).toBe(first)
  const { turns } = pace
  expect(turns).toBeGreaterThan(100)
  expect(others).toBeGreaterThan(turns / 2)
  const atOnce = runAtOnce(openApi2DocumentInSteps(everything, version, { hasIssuer: false }))
  expect(textOf(first) === `${JSON.stringify(atOnce)}\n`).toBe(true)
  expect(Buffer.compare(bytesOf(protobuf), encodeOpenApi2(atOnce))).toBe(0)
  expect(first.hash).toBe(createHash('sha512').update(bytesOf(first)).digest('hex').toUpperCase())
  expect(await documents.now().file2.json()).toBe(first)
  expect(pace.turns).toBe(turns)
})

test('LIM-12, ADDR-18: OpenAPI 3 documents made in steps, once for all requests, equal documents made at once', async () => {
  const server = aServer({ builtIn: everything })
  const { documents, pace } = server
  const names = [...(await urlsOf(server)).keys()]
  for (const name of names) {
    const [first, second] = await Promise.all([documents.now().file3(name), documents.now().file3(name)])
    expect(second).toBe(first)
    const atOnce = runAtOnce(openApi3DocumentInSteps(everything, { name, serverVersion: version, hasIssuer: false }))
    expect(first !== undefined && textOf(first.json) === `${JSON.stringify(atOnce)}\n`).toBe(true)
  }
  const { turns } = pace
  expect(turns).toBeGreaterThan(names.length * 2)
  await documents.now().file3('api/v1')
  expect(pace.turns).toBe(turns)
  expect(await documents.now().file3('apis/none/v1')).toBeUndefined()
})

test('LIM-12: an OpenAPI document that failed is created again at the next request', async () => {
  const { documents, pace } = aServer()
  const { turn } = pace
  pace.turn = () => Promise.reject(new Error('no'))
  await expect(documents.now().file2.json()).rejects.toThrow('no')
  await expect(documents.now().file3('api/v1')).rejects.toThrow('no')
  await expect(documents.now().index()).rejects.toThrow('no')
  pace.turn = turn
  expect(textOf(await documents.now().file2.json())).toContain('"swagger":"2.0"')
  expect((await documents.now().file3('api/v1'))?.json.hash).toMatch(/^[0-9A-F]{128}$/)
  expect((await documents.now().index()).length).toBeGreaterThan(1)
})

test('CRD-149: the index lists documents of custom resources from their definitions, without making any document', async () => {
  const server = aServer()
  await server.documents.now().index()
  const { turns } = server.pace
  server.serve('a.example.com', 'first', 'second')
  const hashes = await hashesOf(server)
  expect(server.pace.turns).toBe(turns)
  const names = ['apis/a.example.com', 'apis/a.example.com/v1', 'apis/a.example.com/v2']
  expect([...hashes.keys()].filter((name) => name.includes('example'))).toEqual(names)
  expect([...hashes.keys()]).toEqual([...hashes.keys()].sort())
  expect(new Set(hashes.values()).size).toBe(hashes.size)
  for (const name of names) expect((await server.documents.now().file3(name))?.json.hash).toBe(hashes.get(name))
  expect(server.pace.turns).toBeGreaterThan(turns)
})

test('CRD-149: the hash of a document of custom resources changes only if their definition changes', async () => {
  const server = aServer()
  server.serve('a.example.com', 'first', 'second')
  const before = await hashesOf(server)
  server.serve('a.example.com', 'first', 'second')
  expect([...(await hashesOf(server))]).toEqual([...before])
  server.serve('b.example.com', 'third')
  server.serve('a.example.com', 'first', 'changed')
  const after = await hashesOf(server)
  const changed = [...before].filter(([name, hash]) => after.get(name) !== hash).map(([name]) => name)
  expect(changed).toEqual(['apis/a.example.com', 'apis/a.example.com/v2'])
  const older = aServer({ gitVersion: 'v1.26.0' })
  older.serve('a.example.com', 'first', 'second')
  expect((await hashesOf(older)).get('apis/a.example.com/v1')).not.toBe(before.get('apis/a.example.com/v1'))
})

test('CRD-149: a document with resources without a definition has the hash of its content', async () => {
  const server = aServer()
  const file = await server.serve('a.example.com', 'first', undefined).file3('apis/a.example.com/v2')
  expect(file?.json.hash).toBe(
    createHash('sha512')
      .update(file === undefined ? '' : bytesOf(file.json))
      .digest('hex')
      .toUpperCase(),
  )
  expect((await hashesOf(server)).get('apis/a.example.com/v2')).toBe(file?.json.hash)
})

test('CRD-149: unchanged parts keep their bytes and are not compressed again', async () => {
  const { documents, serve } = aServer()
  serve('a.example.com', 'first')
  serve('b.example.com', 'second')
  const first = documents.now()
  const before = { json: await first.file2.json(), encoded: await first.file2.encoded() }
  serve('b.example.com', 'changed')
  for (const form of forms) {
    const after = await documents.now().file2[form]()
    expect(after.hash).not.toBe(before[form].hash)
    expect(after.pieces.length).toBe(before[form].pieces.length)
    expect(after.pieces.every((piece, index) => piece === before[form].pieces[index])).toBe(true)
  }
  serve('c.example.com', 'third')
  for (const form of forms) {
    const after = await documents.now().file2[form]()
    expect(after.pieces.filter((piece) => !before[form].pieces.includes(piece))).toHaveLength(1)
    expect(bytesOf(after).includes('/apis/c.example.com/v1/')).toBe(true)
  }
})

test('CRD-149: after a change of one group of many, most pieces of the index are the same bytes', async () => {
  const { documents, serve } = aServer()
  for (let index = 0; index < 200; index++) serve(`g${index}.example.com`, 'some')
  const before = await documents.now().index()
  serve('g100.example.com', 'changed')
  const after = await documents.now().index()
  expect(before.length).toBeGreaterThan(6)
  expect(after.filter((piece) => !before.includes(piece)).length).toBeLessThanOrEqual(2)
})

test('CRD-149: after any change of a group, both forms equal the forms of a new server with that group', async () => {
  const { serve } = aServer()
  const states = [['changed'], ['changed', 'second'], ['second'], ['first'], [undefined], ['first']]
  serve('a.example.com', 'first')
  for (const definedBy of states) {
    const [changed, fresh] = [serve('a.example.com', ...definedBy), aServer().serve('a.example.com', ...definedBy)]
    for (const form of forms) {
      const [file, whole] = [await changed.file2[form](), await fresh.file2[form]()]
      expect(bytesOf(file).equals(bytesOf(whole))).toBe(true)
      expect(file.hash).toBe(whole.hash)
    }
  }
})

test('CRD-149: a removed version or group is in neither form of OpenAPI 2', async () => {
  const { serve } = aServer()
  serve('a.example.com', 'first')
  const one = serve('b.example.com', 'second', 'third')
  const withoutVersion = serve('b.example.com', 'second')
  const withoutGroup = serve('b.example.com')
  for (const form of forms) {
    const files = [await one.file2[form](), await withoutVersion.file2[form](), await withoutGroup.file2[form]()]
    const have = (path: string) => files.map((file) => bytesOf(file).includes(path))
    expect(have('/apis/b.example.com/v2/')).toEqual([true, false, false])
    expect(have('/apis/b.example.com/v1/')).toEqual([true, true, false])
    expect(have('b.example.com')).toEqual([true, true, false])
    expect(have('/apis/a.example.com/v1/')).toEqual([true, true, true])
    expect(new Set(files.map(({ hash }) => hash)).size).toBe(3)
  }
})

test('CRD-149: when OpenAPI 2 documents of several states are requested at once, each has the kinds of its state', async () => {
  const { serve } = aServer()
  const definitions = [['first'], ['first', 'second'], ['changed']]
  const files = await Promise.all(definitions.map((definedBy) => serve('a.example.com', ...definedBy).file2.json()))
  const paths = files.map((file) => Object.keys(JSON.parse(textOf(file)).paths))
  expect(paths.map((all) => all.filter((path) => /^\/apis\/a\.example\.com\/v\d\/$/.test(path)))).toEqual([
    ['/apis/a.example.com/v1/'],
    ['/apis/a.example.com/v1/', '/apis/a.example.com/v2/'],
    ['/apis/a.example.com/v1/'],
  ])
})

test.each(forms)('a document (%s) has the state at its request, even if kinds change meanwhile', async (form) => {
  const { documents, serve } = aServer()
  serve('a.example.com', 'first')
  const [asked, index] = [documents.now().file2[form](), documents.now().index()]
  serve('b.example.com', 'second')
  expect(bytesOf(await asked).includes('b.example.com')).toBe(false)
  expect(Buffer.concat(await index).includes('b.example.com')).toBe(false)
  expect(bytesOf(await documents.now().file2[form]()).includes('b.example.com')).toBe(true)
})

test('CRD-149: bytes of a removed group are dropped, and created again when it is served again', async () => {
  const { documents, serve } = aServer()
  const made = async () => (await documents.now().file2.json()).pieces
  serve('a.example.com', 'first')
  const first = await made()
  serve('a.example.com')
  await made()
  serve('a.example.com', 'first')
  const again = await made()
  expect(again.filter((piece, index) => piece !== first[index])).toHaveLength(1)
  expect(Buffer.concat(again).equals(Buffer.concat(first))).toBe(true)
})
