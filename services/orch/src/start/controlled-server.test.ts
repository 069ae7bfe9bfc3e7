import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient, createHttpsTransport, parseConfiguration, readText } from '@orch/client'
import { silentLog, systemChance } from '@orch/platform'
import { createMemoryStore } from '@orch/storage'
import { expect, onTestFinished, test } from 'vitest'
import { runCommand } from '../command-line.ts'
import { printingTerminal } from '../process/terminal-testing.ts'
import type { Server } from '../server.ts'
import { readUpOptions } from '../settings/up.ts'
import { startControlledServer } from './controlled-server.ts'
import { optionsOfFork } from './start-settings.ts'

function aTerminal(...flags: string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'control-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return { folder, ...printingTerminal(folder, flags) }
}

test('orch up --control writes the file that announces it to programs before it is ready, can be forked with its flags, and removes the file at its end and if its start fails', async () => {
  const { folder, terminal } = aTerminal()
  const flags = ['--profile=kubernetes', '--memory', '--control', '--secure-port=0', '--authorization-mode=RBAC', '--emulated-version=1.34']
  const { texts, ...options } = await readUpOptions(terminal, flags)
  const seen: unknown[] = []
  const beforeReady = async ({ clientAs }: Server) => {
    const client = clientAs({ name: 'tester', groups: ['system:masters'] })
    const readyz = await client.transport.send({ method: 'GET', path: '/readyz', headers: {} })
    seen.push(readyz.status, existsSync(join(folder, 'control.json')))
    client.close()
  }
  const startWith = (beforeReady: (server: Server) => Promise<void>) =>
    startControlledServer({
      server: {
        ...options,
        beforeReady,
        store: createMemoryStore(),
        chance: systemChance,
        log: silentLog,
      },
      dataDir: folder,
      isVirtual: true,
      start: optionsOfFork('kubernetes', texts),
    })
  await expect(startWith(() => Promise.reject(new Error('the load has failed')))).rejects.toThrow('the load has failed')
  expect(existsSync(join(folder, 'control.json'))).toBe(false)
  const server = await startWith(beforeReady)
  expect(seen).toEqual([500, true])
  const file = join(folder, 'control.json')
  const access = JSON.parse(readFileSync(file, 'utf8'))
  expect([access.url, statSync(file).mode & 0o777]).toEqual([`${server.url}/orch/v1`, 0o600])
  const { certificateAuthority, token } = access
  const transport = createHttpsTransport({ server: server.url, certificateAuthority, token })
  const control = createClient(transport)
  const headers = { 'content-type': 'application/json' }
  const made = await transport.send({ method: 'POST', path: '/orch/v1/forks', headers, body: Buffer.from('{"name":"a"}') })
  const fork = JSON.parse(await readText(made))
  const inFork = createClient(createHttpsTransport(await parseConfiguration(fork.kubeconfig)))
  expect(await inFork.request({ method: 'GET', path: '/version' })).toMatchObject({ emulationMinor: '34' })
  expect(await control.request({ method: 'GET', path: '/orch/v1/clock' })).toMatchObject({ virtual: true })
  expect((await transport.send({ method: 'GET', path: '/readyz', headers: {} })).status).toBe(200)
  inFork.close()
  control.close()
  await server.stop({ delayMs: 0, graceMs: 0 })
  expect(existsSync(file)).toBe(false)
})

test('a control is refused if it would be open to others, or could not work', async () => {
  const refused: [string[], string][] = [
    [['--control', '--bind-address=0.0.0.0'], 'add --tests-beyond-loopback'],
    [['--virtual-clock'], '--virtual-clock needs --control'],
    [['--control', '--distributed'], 'controls one process alone'],
    [['--control', '--threads=2'], 'a server of one thread alone'],
  ]
  for (const [flags, reason] of refused) {
    const { terminal, printed } = aTerminal('up', ...flags)
    expect([flags, await runCommand(terminal), printed.error]).toEqual([flags, 2, expect.stringContaining(reason)])
  }
  const { terminal } = aTerminal()
  await expect(readUpOptions(terminal, ['--control', '--bind-address=0.0.0.0', '--tests-beyond-loopback'])).resolves.toBeDefined()
})
