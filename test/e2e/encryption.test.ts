import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Client } from '@orch/client'
import type { ApiObject } from '@orch/core/meta'
import { domainGroup, namesOf } from '@orch/core/names'
import { aFolder } from '@orch/testkit/folder'
import { expect, test } from 'vitest'
import { runRefused, runToEnd, startProcess } from './server-process.ts'

const secrets = { group: '', version: 'v1', plural: 'secrets', namespaced: true }
const plain = 'a-word-that-nothing-else-has'
const encoded = Buffer.from(plain).toString('base64')

/** An EncryptionConfiguration for Secrets with these keys; the server encrypts with the first key. */
function writeConfiguration(path: string, keys: readonly string[]): void {
  const named = keys.map((name) => ({ name, secret: Buffer.alloc(32, name).toString('base64') }))
  const resources = [{ resources: ['secrets'], providers: [{ aesgcm: { keys: named } }] }]
  const apiVersion = `${domainGroup(namesOf('orch'), 'apiserver.config')}/v1`
  writeFileSync(path, JSON.stringify({ apiVersion, kind: 'EncryptionConfiguration', resources }))
}

/** The names of a folder's files that contain a text. */
function filesWith(folder: string, text: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => {
    const path = join(folder, name)
    return statSync(path).isFile() && readFileSync(path).includes(text)
  })
}

const migrations = {
  group: domainGroup(namesOf('orch'), 'storagemigration'),
  version: 'v1',
  plural: 'storageversionmigrations',
  namespaced: false,
}

/** Resolves when the server has rewritten all Secrets. */
async function migrated(client: Client): Promise<void> {
  const collection = client.resource<ApiObject & { readonly status?: { readonly conditions?: readonly { readonly type: string }[] } }>(
    migrations,
  )
  const kind = { apiVersion: `${migrations.group}/v1`, kind: 'StorageVersionMigration' }
  const events = await collection.watch({ sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan', allowWatchBookmarks: true })
  await collection.create({ ...kind, metadata: { name: 'secrets' }, ...{ spec: { resource: { group: '', resource: 'secrets' } } } })
  for await (const { type, object } of events) {
    if (type !== 'BOOKMARK' && 'status' in object && object.status?.conditions?.some((one) => one.type === 'Succeeded')) return
  }
}

const aSecret = (name: string) => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace: 'default' }, data: { word: encoded } })

test('ENC-12, SVM-04: the data folder has no plain text of 1,000 Secrets; after a rotation a migration encrypts them with the new key', async () => {
  const folder = aFolder()
  const file = join(folder, 'encryption.json')
  const flags = [`--encryption-provider-config=${file}`]
  writeConfiguration(file, ['first'])
  const one = await startProcess(flags)
  const { dataDir } = one
  const client = one.client.resource(secrets)
  for (let first = 0; first < 1_000; first += 50) {
    await Promise.all(Array.from({ length: 50 }, (_, number) => client.create(aSecret(`s${first + number}`))))
  }
  await one.client
    .resource({ ...secrets, plural: 'configmaps' })
    .create({ ...aSecret('shown'), kind: 'ConfigMap', data: { word: 'in-plain-view' } })
  await one.stop()
  expect([filesWith(dataDir, encoded), filesWith(dataDir, plain)]).toEqual([[], []])
  expect(filesWith(dataDir, 'in-plain-view')).not.toEqual([])

  writeConfiguration(file, ['second', 'first'])
  const two = await startProcess(flags, { dataDir })
  const rotated = two.client.resource(secrets)
  const before = await rotated.get('s0', { namespace: 'default' })
  expect(before).toMatchObject({ data: { word: encoded } })
  const after = await rotated.update(before)
  expect(after.metadata.resourceVersion).not.toBe(before.metadata.resourceVersion)
  expect((await rotated.update(after)).metadata.resourceVersion).toBe(after.metadata.resourceVersion)
  await migrated(two.client)
  await two.stop()

  writeConfiguration(file, ['second'])
  const three = await startProcess(flags, { dataDir })
  expect(await three.client.resource(secrets).get('s49', { namespace: 'default' })).toMatchObject({ data: { word: encoded } })
  await three.stop()

  writeConfiguration(file, ['third'])
  const { code, error } = await runToEnd([`--data-dir=${dataDir}`, '--secure-port=0', ...flags])
  expect({ code, error }).toEqual({
    code: 1,
    error: expect.stringMatching(
      /^orch: --encryption-provider-config: core\/secrets\/\S+ is encrypted with k8s:enc:aesgcm:v1:second:, and no provider of its resource has that key\n$/,
    ),
  })
})

test('ENC-12: an invalid configuration fails the start with all of its errors', async () => {
  const file = join(aFolder(), 'encryption.json')
  writeFileSync(file, '{"apiVersion": "x/v1", "kind": "EncryptionConfiguration"}')
  const { code, error } = await runRefused(['--memory', `--data-dir=${aFolder()}`, `--encryption-provider-config=${file}`])
  expect(code).toBe(2)
  expect(error).toContain(`--encryption-provider-config=${file}: apiVersion: Invalid value: "x/v1": must be `)
  expect(error).toContain('; resources: Required value: at least one resources is required')
})
