import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { storeSuite } from '@orch/testkit'
import { findBackend, openEtcd, type Program } from '@orch/testkit/backends'
import { afterAll, beforeAll, describe } from 'vitest'
import { type EtcdStoreOptions, openEtcdStore } from './etcd-store.ts'

const backend = await findBackend('etcd')
const reason = backend.kind === 'missing' ? ` [skipped: ${backend.reason}]` : ''

describe.skipIf(backend.kind === 'missing')(`on etcd${reason}`, () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'etcd-test-'))
  let etcd: Program
  let prefixes = 0
  beforeAll(async () => {
    etcd = await openEtcd({ path: backend.kind === 'found' ? backend.path : '', dataDir })
  })
  afterAll(async () => {
    await etcd.stop()
    rmSync(dataDir, { recursive: true, force: true })
  })

  const open = (options: Partial<EtcdStoreOptions> = {}) =>
    openEtcdStore({ servers: [`http://${etcd.address}`], prefix: `test-${prefixes++}`, profile: 'orch', ...options })

  storeSuite('etcd', open)
})
