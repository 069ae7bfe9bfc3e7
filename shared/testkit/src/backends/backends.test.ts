import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { locateBackend } from '@orch/platform/backends'
import { describe, expect, test } from 'vitest'
import { findBackend, openEtcd, openNats, type Program } from './index.ts'

const programs = { etcd: openEtcd, 'nats-server': openNats } as const

function isListening({ address }: Program): Promise<boolean> {
  const [host = '', port = ''] = address.split(':')
  return new Promise((resolve) => {
    const socket = connect(Number(port), host)
    const end = (answer: boolean) => {
      socket.destroy()
      resolve(answer)
    }
    socket.once('connect', () => end(true))
    socket.once('error', () => end(false))
  })
}

for (const name of ['etcd', 'nats-server'] as const) {
  const backend = await findBackend(name)
  const reason = backend.kind === 'missing' ? `[skipped: ${backend.reason}]` : ''
  describe.skipIf(backend.kind === 'missing')(`${name} ${reason}`, () => {
    test('a killed program starts again at the same address with the same data', async () => {
      const dataDir = mkdtempSync(join(tmpdir(), 'backend-test-'))
      const program = await programs[name]({ path: backend.kind === 'found' ? backend.path : '', dataDir })
      try {
        const { address } = program
        expect(await isListening(program)).toBe(true)
        await program.kill()
        expect({ pid: program.pid, isListening: await isListening(program) }).toEqual({ pid: undefined, isListening: false })
        await program.start()
        expect({ address: program.address, isListening: await isListening(program) }).toEqual({ address, isListening: true })
      } finally {
        await program.stop()
        rmSync(dataDir, { recursive: true, force: true })
      }
    })
  })
}

test('a program that is not installed and may not be fetched is missing, with one line on how to get it', async () => {
  const path = process.env.PATH
  process.env.PATH = ''
  try {
    const located = await locateBackend('etcd', { cacheFolder: join(tmpdir(), 'no-such-cache'), mayFetch: false })
    expect(located).toMatchObject({ kind: 'missing', reason: expect.stringMatching(/^etcd is not on the PATH; install it .*etcd-server/) })
  } finally {
    process.env.PATH = path
  }
})

test('a program that ends at once is reported with its output', async () => {
  await expect(openEtcd({ path: process.execPath })).rejects.toThrow(/did not become ready: .*bad option/s)
})
