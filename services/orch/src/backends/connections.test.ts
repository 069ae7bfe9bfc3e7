import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createCatalogue } from '@orch/core/catalogue'
import { createLifecycle, silentLog } from '@orch/platform'
import { findBackend, openNats } from '@orch/testkit/backends'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openChangeStream } from './connections.ts'

const backend = await findBackend('nats-server')
const reason = backend.kind === 'missing' ? ` [skipped: ${backend.reason}]` : ''

async function startNats() {
  const dataDir = mkdtempSync(join(tmpdir(), 'orch-change-stream-'))
  const program = await openNats({ path: backend.kind === 'found' ? backend.path : '', dataDir })
  onTestFinished(async () => {
    await program.stop()
    rmSync(dataDir, { recursive: true, force: true })
  })
  return program
}

async function open(address: string, replicas: number) {
  const lifecycle = createLifecycle({ log: silentLog })
  onTestFinished(() => lifecycle.stop())
  const assembly = { lifecycle, catalogue: createCatalogue('orch') }
  const kept = { replicas, ageMsMax: 60_000 }
  return openChangeStream({ servers: [address], profile: 'orch', prefix: '', kept }, 'storage', assembly)
}

describe.skipIf(backend.kind === 'missing')(`a real NATS${reason}`, () => {
  test('the stream has as many replicas as storage is configured for: a single server refuses three', async () => {
    const { address } = await startNats()
    await expect((await open(address, 3)).prepare()).rejects.toThrow('replicas > 1 not supported in non-clustered mode')
    expect(await (await open(address, 1)).prepare()).toEqual({ sequence: 0 })
  })
})
