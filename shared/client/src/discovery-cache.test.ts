import { mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createDiscoveryCache, createFileCache } from './discovery-cache.ts'
import { readText } from './request.ts'
import type { Transport, TransportRequest } from './transport.ts'

function aFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'discovery-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'cache')
}

/** A server that answers with the given text and its ETag, and records its requests. */
function aServer() {
  const asked: TransportRequest[] = []
  const state = { text: 'first', hasEtag: true }
  const transport: Transport = {
    async send(request) {
      asked.push(request)
      const etag = `"${state.text}"`
      const isKnown = request.headers['if-none-match'] === etag
      const body = (async function* () {
        if (!isKnown) yield Buffer.from(`${state.text} of ${request.path}`)
      })()
      return { status: isKnown ? 304 : 200, headers: { 'content-type': 'a/b', ...(state.hasEtag ? { etag } : {}) }, body }
    },
    close() {},
  }
  const get = async (folder: string, path: string, { method = 'GET', accept = 'x', server = 's' } = {}) => {
    const response = await createDiscoveryCache(transport, createFileCache(folder, server)).send({ method, path, headers: { accept } })
    return { status: response.status, type: response.headers['content-type'], text: await readText(response) }
  }
  return { state, get, conditions: () => asked.map(({ headers }) => headers['if-none-match']) }
}

test('unchanged documents come from the file of an earlier process; changed ones come from the server', async () => {
  const [{ state, get, conditions }, folder] = [aServer(), aFolder()]
  const first = { status: 200, type: 'a/b', text: 'first of /apis' }
  expect(await get(folder, '/apis')).toEqual(first)
  expect(await get(folder, '/apis')).toEqual(first)
  state.text = 'second'
  expect(await get(folder, '/apis')).toEqual({ ...first, text: 'second of /apis' })
  expect(await get(folder, '/apis')).toEqual({ ...first, text: 'second of /apis' })
  expect(conditions()).toEqual([undefined, '"first"', '"first"', '"second"'])
})

test('each path, media type and server has its own answer', async () => {
  const [{ get, conditions }, folder] = [aServer(), aFolder()]
  await get(folder, '/apis')
  expect((await get(folder, '/api')).text).toBe('first of /api')
  await get(folder, '/apis', { accept: 'y' })
  await get(folder, '/apis', { server: 't' })
  expect(conditions()).toEqual([undefined, undefined, undefined, undefined])
})

test.for([
  ['objects', '/api/v1/namespaces/a', {}],
  ['lists', '/apis/apps/v1/deployments', {}],
  ['discovery with a query', '/apis?timeout=1s', {}],
  ['what is no GET', '/apis', { method: 'POST' }],
] as const)('%s are not cached', async ([, path, options]) => {
  const [{ get, conditions }, folder] = [aServer(), aFolder()]
  await get(folder, path, options)
  await get(folder, path, options)
  expect(conditions()).toEqual([undefined, undefined])
  expect(() => readdirSync(folder)).toThrow('ENOENT')
})

test('an answer without an ETag is not cached', async () => {
  const [{ state, get }, folder] = [aServer(), aFolder()]
  state.hasEtag = false
  expect((await get(folder, '/apis')).text).toBe('first of /apis')
  expect(() => readdirSync(folder)).toThrow('ENOENT')
})

test('a damaged file counts as absent, and so does a folder that cannot be written', async () => {
  const [{ get, conditions }, folder] = [aServer(), aFolder()]
  await get(folder, '/apis')
  const [file = ''] = readdirSync(folder)
  for (const text of ['{', '{}', 'null', '{"etag":1,"contentType":"a","body":"b"}']) {
    writeFileSync(join(folder, file), text)
    expect((await get(folder, '/apis')).text).toBe('first of /apis')
  }
  expect((await get(join(folder, file, 'below'), '/apis')).text).toBe('first of /apis')
  expect(conditions().filter((condition) => condition !== undefined)).toEqual([])
})

test('only the owner can access the files, and beyond 64 files the oldest is removed', async () => {
  const [{ get, conditions }, folder] = [aServer(), aFolder()]
  for (let index = 0; index < 64; index += 1) await get(folder, '/apis', { server: `${index}` })
  const [old = ''] = readdirSync(folder)
  utimesSync(join(folder, old), 1, 1)
  await get(folder, '/apis', { server: 'another' })
  expect(readdirSync(folder)).toHaveLength(64)
  expect(readdirSync(folder)).not.toContain(old)
  expect(readdirSync(folder).every((name) => (statSync(join(folder, name)).mode & 0o077) === 0)).toBe(true)
  await get(folder, '/apis', { server: 'another' })
  expect(conditions().at(-1)).toBe('"first"')
})
