import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { findBackend } from '@orch/testkit/backends'
import { aFolder } from '@orch/testkit/folder'
import { expect, onTestFinished, test } from 'vitest'

const entry = join(import.meta.dirname, '../../services/orch/dist/bundle/main.js')
const missing = (await Promise.all([findBackend('etcd'), findBackend('nats-server')])).find(({ kind }) => kind === 'missing')

async function aTakenAddress(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Runs a command to its end like `orch up --distributed`. */
async function runAsChild(...args: string[]) {
  const child: ChildProcess = fork(entry, args, { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const messages: unknown[] = []
  child.on('message', (message) => messages.push(message))
  let error = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    error += chunk.toString()
  })
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, messages, error }
}

const flagsFor = {
  'storage --listen': (address: string) => ['storage', `--data-dir=${aFolder()}`, '--probe-address=127.0.0.1:0', `--listen=${address}`],
  'storage --probe-address': (address: string) => [
    'storage',
    `--data-dir=${aFolder()}`,
    '--listen=127.0.0.1:0',
    `--probe-address=${address}`,
  ],
  'up --secure-port': (address: string) => ['up', '--memory', `--data-dir=${aFolder()}`, `--secure-port=${address.split(':')[1]}`],
}

test.each(Object.entries(flagsFor))('a process whose port is in use reports the address to its parent: %s', async (_, flags) => {
  const address = await aTakenAddress()
  const { code, messages, error } = await runAsChild(...flags(address))
  expect({ code, messages }).toMatchObject({ code: 1, messages: [{ kind: 'failed', takenAddress: address, reason: expect.any(String) }] })
  expect(error).toMatch(/^orch: .*in use|EADDRINUSE/)
  expect(error).not.toMatch(/^ {4}at /m)
})

test.skipIf(missing !== undefined).each(['etcd', 'nats'])('backends whose port is in use report the address too: %s', async (name) => {
  const address = await aTakenAddress()
  const { code, messages, error } = await runAsChild('backends', `--data-dir=${aFolder()}`, `--${name}-port=${address.split(':')[1]}`)
  expect({ code, messages }).toMatchObject({ code: 1, messages: [{ kind: 'failed', takenAddress: address, reason: expect.any(String) }] })
  expect(error).toContain(`${address} is in use by another program\n`)
})
