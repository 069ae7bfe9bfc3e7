import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient, createHttpsTransport, startInformer, type Transport } from '@orch/client'
import type { ApiObject } from '@orch/core/meta'
import { certificateMemory, noStatusLine, silentLog, systemChance, systemClock } from '@orch/platform'
import { lockDirectory, openLmdbStore } from '@orch/storage'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { runCommand } from '../command-line.ts'
import { startServer } from '../server.ts'
import { readServer } from '../settings/up.ts'
import { readStartSettings } from '../start/start-settings.ts'

let folder = ''

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'backup-command-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
})

async function run(...args: string[]) {
  const printed = { out: '', error: '' }
  const status: string[] = []
  const code = await runCommand({
    arguments: args,
    env: {},
    workingFolder: folder,
    out(text) {
      printed.out += text
    },
    error(text) {
      printed.error += text
    },
    statusLine: { ...noStatusLine, show: (text) => void status.push(text), close: () => void status.push('closed') },
  })
  return { code, ...printed, status }
}

/** A server on the folder `data`, as `orch up` starts it. */
async function serve() {
  const directory = join(folder, 'data')
  const lock = lockDirectory(directory)
  const settings = readStartSettings({ profile: 'orch' })
  const server = await startServer({
    ...readServer(settings),
    store: await openLmdbStore({ directory, profile: 'orch' }),
    certificateFiles: certificateMemory(),
    clock: systemClock,
    chance: systemChance,
    log: silentLog,
  })
  lock.announce(server.url)
  const transport = createHttpsTransport(server.configuration)
  let stopping: Promise<void> | undefined
  const stop = () => {
    transport.close()
    stopping ??= server.stop({ delayMs: 0, graceMs: 0 }).then(() => lock.release())
    return stopping
  }
  onTestFinished(stop)
  return { transport, stop }
}

const configMaps = { group: '', version: 'v1', plural: 'configmaps', namespaced: true }
const inDefault = { namespace: 'default' }
const aMap = (name: string, data: string): ApiObject =>
  ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' }, data: { data } }) as ApiObject

/** A client of the currently running server. */
function changingTransport() {
  const state: { now: Transport | undefined } = { now: undefined }
  const transport: Transport = {
    send: async (request) => state.now?.send(request) ?? Promise.reject(new Error('no server runs')),
    close() {},
  }
  return { state, transport }
}

test('clients with open watches list again after a restore, and no earlier revision names another state', async () => {
  const { state, transport } = changingTransport()
  const first = await serve()
  state.now = first.transport
  const maps = createClient(transport).resource(configMaps)
  const kept = await maps.create(aMap('kept', 'one'), inDefault)
  await maps.create(aMap('removed-later', 'x'), inDefault)
  expect(await run('backup', 'objects.backup', '--data-dir', 'data')).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^.*objects\.backup: \d+ keys of the profile orch at revision \d+\n$/),
  })
  const ending = new AbortController()
  const seen: string[] = []
  const errors: unknown[] = []
  const informer = startInformer({
    resource: maps,
    select: { namespace: 'default' },
    signal: ending.signal,
    sleep: () => new Promise((resolve) => setImmediate(resolve)),
    random: () => 0,
    onEvent: ({ kind, object }) => seen.push(`${kind} ${object.metadata.name}`),
    onError: (error) => errors.push(error),
  })
  onTestFinished(async () => {
    ending.abort()
    await informer.done
  })
  await informer.synced
  await maps.delete('removed-later', inDefault)
  const lost = await maps.create(aMap('lost', 'x'), inDefault)
  const changed = await maps.update({ ...kept, data: { data: 'two' } } as ApiObject, inDefault)
  await expect.poll(() => informer.get('kept', 'default')).toMatchObject({ data: { data: 'two' } })

  expect(await run('restore', 'objects.backup', '--data-dir', 'data', '--replace')).toMatchObject({
    code: 1,
    error: expect.stringContaining('is in use by process'),
  })
  await first.stop()
  state.now = undefined
  expect(await run('restore', 'objects.backup', '--data-dir', 'data')).toMatchObject({
    code: 1,
    error: expect.stringContaining('holds objects already'),
  })
  expect(await run('restore', 'objects.backup', '--data-dir', 'data', '--replace')).toMatchObject({ code: 0 })
  seen.length = 0
  const second = await serve()
  state.now = second.transport

  await expect.poll(() => informer.get('removed-later', 'default')).toBeDefined()
  expect(seen.toSorted()).toEqual(['added removed-later', 'deleted lost', 'updated kept'])
  expect(errors).toContainEqual(expect.objectContaining({ code: 410 }))
  const watchFrom = async (resourceVersion?: string) => {
    for await (const event of await maps.watch({ ...inDefault, resourceVersion: resourceVersion ?? '', signal: ending.signal }))
      return event
    return undefined
  }
  for (const version of [kept, lost, changed].map(({ metadata }) => metadata.resourceVersion))
    await expect(watchFrom(version)).rejects.toMatchObject({ code: 410, reason: 'Expired' })
  await expect(maps.update({ ...changed, data: { data: 'three' } } as ApiObject, inDefault)).rejects.toMatchObject({ code: 409 })
  expect(await maps.get('kept', inDefault)).toEqual(kept)
  expect(await maps.update({ ...kept, data: { data: 'three' } } as ApiObject, inDefault)).toMatchObject({ data: { data: 'three' } })
})

test('a backup overwrites no file, and a backup of an empty folder is refused', async () => {
  writeFileSync(join(folder, 'there'), 'mine')
  expect(await run('backup', 'there')).toMatchObject({ code: 1, error: expect.stringContaining('is there already') })
  expect(await run('backup')).toMatchObject({ code: 2, error: expect.stringContaining('one file is needed') })
  expect(await run('backup', 'new')).toMatchObject({ code: 1, error: expect.stringContaining('there is no data folder') })
  lockDirectory(join(folder, 'empty')).release()
  expect(await run('backup', 'new', '--data-dir=empty')).toMatchObject({ code: 1, error: expect.stringContaining('holds no objects') })
  expect(existsSync(join(folder, 'new'))).toBe(false)
})

test('a restore is refused for another profile, and from a file that is no backup, before the folder is touched', async () => {
  const store = await openLmdbStore({ directory: join(folder, 'data'), profile: 'orch' })
  await store.close()
  expect(await run('backup', 'good', '--data-dir=data')).toMatchObject({ code: 0 })
  writeFileSync(join(folder, 'bad'), 'nothing')
  const before = readdirSync(folder)
  expect(await run('restore', 'good', '--profile=kubernetes')).toMatchObject({
    code: 1,
    error: expect.stringContaining("belongs to the profile 'orch' and can't be restored under the profile 'kubernetes'"),
  })
  expect(await run('restore', 'bad', '--data-dir=other')).toMatchObject({
    code: 1,
    error: expect.stringContaining('is not a whole backup'),
  })
  expect(await run('restore', 'missing', '--data-dir=other')).toMatchObject({ code: 1, error: expect.stringContaining('missing') })
  expect(readdirSync(folder)).toEqual(before)
})

test('a backup and a restore report the number of written keys, each thousand', async () => {
  const store = await openLmdbStore({ directory: join(folder, 'data'), profile: 'orch' })
  const put = (index: number) =>
    store.commit({ key: `a/${index}`, value: Buffer.from('x'), expected: 0, conditions: [], writeId: `${index}` })
  await Promise.all(Array.from({ length: 2_500 }, (_, index) => put(index)))
  await store.close()
  const backedUp = await run('backup', 'objects.backup', '--data-dir', 'data')
  expect(backedUp.status).toEqual(['writing 0 keys', 'writing 1000 keys', 'writing 2000 keys', 'closed'])
  const restored = await run('restore', 'objects.backup', '--data-dir', 'other')
  expect(restored.status).toEqual([
    `checking ${join(folder, 'objects.backup')}`,
    'restoring 0 of 2500 keys',
    'restoring 1000 of 2500 keys',
    'restoring 2000 of 2500 keys',
    'closed',
  ])
})
