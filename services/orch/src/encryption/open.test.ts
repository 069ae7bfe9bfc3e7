import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createCatalogue } from '@orch/core/catalogue'
import { createLifecycle, createMetrics, silentLog, systemChance } from '@orch/platform'
import { createMemoryStore } from '@orch/storage'
import { createFakeClock } from '@orch/testkit'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openEncryption, readEncryption } from './open.ts'

const configuration = (...names: readonly string[]) => ({
  apiVersion: 'apiserver.config.k8s.io/v1',
  kind: 'EncryptionConfiguration',
  resources: [
    {
      resources: ['secrets'],
      providers: [{ aesgcm: { keys: names.map((name) => ({ name, secret: Buffer.alloc(32, name).toString('base64') })) } }],
    },
  ],
})

async function open(reloads: boolean) {
  const folder = await mkdtemp(join(tmpdir(), 'encryption-test-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const file = join(folder, 'encryption.json')
  const write = (value: unknown) => writeFileSync(file, JSON.stringify(value))
  write(configuration('first'))
  const errors: string[] = []
  const log = { ...silentLog, error: ({ err }: { readonly err?: unknown }) => void errors.push(String(err)) }
  const clock = createFakeClock()
  const lifecycle = createLifecycle({ log: silentLog })
  onTestFinished(() => lifecycle.stop())
  const surroundings = { catalogue: createCatalogue('kubernetes'), clock, lifecycle, log, chance: systemChance }
  const encryption = await openEncryption({ file, reloads }, surroundings)
  const metrics = createMetrics({ process: false })
  encryption.addMetrics(metrics)
  const inner = createMemoryStore()
  const store = encryption.encrypt(inner)
  let count = 0
  /** The prefix of the next stored Secret. */
  const prefix = async () => {
    const key = `core/secrets/default/s${count++}`
    await store.commit({ key, expected: 0, conditions: [], writeId: key, value: Buffer.from('word') })
    const record = await inner.getAt(key, inner.status().revision)
    return /k8s:enc:\w+:v1:\w+:/.exec(Buffer.from(record?.value ?? []).toString('latin1'))?.[0]
  }
  const reloadsOf = async (status: string) =>
    new RegExp(`automatic_reloads_total\\{apiserver_id_hash="sha256:\\w{64}",status="${status}"\\} (\\d+)`).exec(await metrics.text())?.[1]
  /** The hashes of the file and of the configurations that the metrics show as in use. */
  const hashes = async () => ({
    file: createHash('sha256').update(readFileSync(file)).digest('hex'),
    shown: [...(await metrics.text()).matchAll(/last_config_info\{apiserver_id_hash="\S+",hash="sha256:(\w+)"\} 1/g)].map(
      ([, hash]) => hash,
    ),
  })
  return { hashes, encryption, write, clock, errors, prefix, reloadsOf, store }
}

test('ENC-13: a new file takes effect within 10 s with automatic reload; an invalid file is reported once and has no effect', async () => {
  const { write, clock, errors, prefix, reloadsOf, hashes } = await open(true)
  expect(await prefix()).toBe('k8s:enc:aesgcm:v1:first:')
  write(configuration('second', 'first'))
  clock.advance(10_000)
  await vi.waitFor(async () => expect(await prefix()).toBe('k8s:enc:aesgcm:v1:second:'))
  const { file, shown } = await hashes()
  expect(shown).toEqual([file])
  write({ ...configuration('third'), kind: 'Other' })
  clock.advance(10_000)
  await vi.waitFor(() => expect(errors).toHaveLength(1))
  expect(errors[0]).toContain('kind: Invalid value: "Other": must be EncryptionConfiguration')
  expect(await prefix()).toBe('k8s:enc:aesgcm:v1:second:')
  expect([await reloadsOf('success'), await reloadsOf('failure')]).toEqual(['1', '1'])
})

test('ENC-13: without automatic reload the file is read only at the start', async () => {
  const { write, clock, prefix } = await open(false)
  write(configuration('second', 'first'))
  clock.advance(60_000)
  expect(clock.pendingTimers).toBe(0)
  expect(await prefix()).toBe('k8s:enc:aesgcm:v1:first:')
})

test('ENC-13: automatic reload without a file is refused', () => {
  const settings = { encryptionProviderConfig: '', encryptionProviderConfigAutomaticReload: true }
  expect(() => readEncryption(settings)).toThrow('--encryption-provider-config-automatic-reload needs --encryption-provider-config')
})

test('ENC-14: encrypted resources are known, so that changes of them are published by reference', async () => {
  const { encryption } = await open(false)
  expect(['core/secrets/default/a', 'core/configmaps/default/a'].map((key) => encryption.isEncrypted(key))).toEqual([true, false])
})
