import { createHash } from 'node:crypto'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { createClient, createHttpsTransport, parseConfiguration } from '@orch/client'
import type { ApiObject } from '@orch/core/meta'
import { aConfigMap } from '@orch/testkit'
import { aFolder } from '@orch/testkit/folder'
import { expect, onTestFinished, test, vi } from 'vitest'
import { loadSnapshot, type RunningServer, start } from '../index.ts'

const configMaps = { group: '', version: 'v1', plural: 'configmaps', namespaced: true }
const inDefault = { namespace: 'default' }

/** A file of another writer, with its own checksum. */
function sealed(body: string | Buffer): Buffer {
  const digest = createHash('sha256').update(body).digest('hex')
  return Buffer.concat([Buffer.from(`orch-snapshot 2 ${digest}\n`), Buffer.from(body)])
}

test('a snapshot file starts a server with the objects, revisions, past, users and keys of the first server, and another file is refused', async () => {
  const folder = aFolder()
  const file = join(folder, 'kept', 'base.orch')
  const base = await start({ profile: 'kubernetes' })
  onTestFinished(() => base.stop())
  const maps = base.client.resource(configMaps)
  const first = await maps.create(aConfigMap({ name: 'a', data: { x: '1' } }))
  await maps.patch('a', { data: { x: '2' } }, { ...inDefault, type: 'merge' })
  await maps.create(aConfigMap({ name: 'gone' }))
  await maps.delete('gone', inDefault)
  base.user('reader', { rules: [{ verbs: ['get'], apiGroups: [''], resources: ['configmaps'] }] })
  await base.settled({ within: 60_000 })
  // The digits of a port may also be a part of a uid.
  const plain = (text: string, { url }: { readonly url: string }) =>
    text.replaceAll(new RegExp(`(?<![\\da-f])${new URL(url).port}(?![\\da-f])`, 'g'), '<port>')
  // By the machine's clock each server renews a Lease at intervals.
  const server = await vi.waitFor(
    async () => {
      await base.snapshot().save(file)
      const snapshot = await loadSnapshot(file)
      expect(snapshot.revision).toBe(base.snapshot().revision)
      const loaded = await start({ from: snapshot })
      onTestFinished(() => loaded.stop())
      expect(plain(await loaded.dump(), loaded)).toBe(plain(await base.dump(), base))
      return loaded
    },
    { timeout: 60_000, interval: 100 },
  )
  expect(statSync(file).mode & 0o777).toBe(0o600)
  const client = createClient(createHttpsTransport({ ...(await parseConfiguration(base.kubeconfig)), server: server.url }))
  onTestFinished(() => client.close())
  expect(await client.resource(configMaps).get('a', inDefault)).toEqual(await maps.get('a', inDefault))
  const watch = await client.resource(configMaps).watch({ ...inDefault, resourceVersion: first.metadata.resourceVersion })
  expect((await watch.next()).value).toMatchObject({ type: 'MODIFIED', object: { data: { x: '2' } } })
  await watch.return()
  await expect(server.user('reader').client.resource(configMaps).list(inDefault)).rejects.toMatchObject({ code: 403 })

  const refused: readonly (readonly [change: (bytes: Buffer) => Buffer, message: string])[] = [
    [(bytes) => bytes.subarray(0, -1), 'is damaged: its content is not what was written; save the snapshot again'],
    [(bytes) => Buffer.concat([bytes.subarray(0, 200), Buffer.from('x'), bytes.subarray(201)]), 'is damaged'],
    [() => Buffer.from('kind: ConfigMap\n'), 'is no snapshot: expected a file that snapshot.save() has written'],
    [() => sealed('text'), 'cannot be read: incorrect header check'],
    [() => sealed(gzipSync('{}\n')), 'cannot be read: '],
    [(bytes) => Buffer.from(bytes.toString('latin1').replace(' 2 ', ' 9 '), 'latin1'), 'has format 9; this version reads formats 1 and 2'],
  ]
  const written = readFileSync(file)
  for (const [change, message] of refused) {
    writeFileSync(file, change(written))
    await expect(loadSnapshot(file)).rejects.toThrow(`${file}: ${message}`)
  }
  await expect(loadSnapshot(join(folder, 'absent'))).rejects.toThrow('absent: cannot be read (ENOENT)')
})

test('a server with encrypted values has forks, which read its values with its keys, and is not saved to a file', async () => {
  const folder = aFolder()
  const config = join(folder, 'encryption.yaml')
  const providers = [{ secretbox: { keys: [{ name: 'one', secret: Buffer.alloc(32, 1).toString('base64') }] } }]
  const resources = [{ resources: ['secrets'], providers }]
  writeFileSync(config, JSON.stringify({ apiVersion: 'apiserver.config.k8s.io/v1', kind: 'EncryptionConfiguration', resources }))
  const server = await start({ profile: 'kubernetes', flags: [`--encryption-provider-config=${config}`] })
  onTestFinished(() => server.stop())
  const file = join(folder, 'base.orch')
  await expect(server.snapshot().save(file)).rejects.toThrow(`${file}: a server with --encryption-provider-config is not saved to a file`)
  expect(existsSync(file)).toBe(false)
  const name = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'kept', namespace: 'default' } }
  const { metadata } = await server.client.objects.create<ApiObject>({ ...name, stringData: { word: 'hunter2' } })
  await using fork = await server.fork()
  const secrets = (of: RunningServer) => of.client.resource({ group: '', version: 'v1', plural: 'secrets', namespaced: true })
  expect(await secrets(fork).get('kept', { namespace: 'default' })).toEqual(await secrets(server).get('kept', { namespace: 'default' }))
  await secrets(fork).delete('kept', { namespace: 'default' })
  await using second = await fork.fork()
  await expect(secrets(second).get('kept', { namespace: 'default' })).rejects.toMatchObject({ code: 404 })
  expect(await second.at(Number(metadata.resourceVersion)).get({ ...name, ...name.metadata })).toMatchObject({
    data: { word: 'aHVudGVyMg==' },
  })
  expect((await secrets(server).get('kept', { namespace: 'default' })).metadata.uid).toBe(metadata.uid)
})
