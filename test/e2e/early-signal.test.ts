import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { connect } from 'node:tls'
import { portOf } from '@orch/platform'
import { expect, onTestFinished, test } from 'vitest'
import { canSharePorts } from '../../services/gateway/src/index.ts'
import { aFolder } from './server-process.ts'

const entry = join(import.meta.dirname, '../../services/orch/dist/bundle/main.js')

async function aFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const port = portOf(server)
  server.close()
  await once(server, 'close')
  return port
}

/** Resolves when a handshake has succeeded. Between two attempts the server has the processor. */
async function untilListening(port: number): Promise<void> {
  for (;;) {
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false })
    const isThere = await new Promise<boolean>((resolve) => {
      socket.once('secureConnect', () => resolve(true))
      socket.once('error', () => resolve(false))
      socket.once('close', () => resolve(false))
    })
    socket.destroy()
    if (isThere) return
    await setTimeout(2)
  }
}

test.skipIf(!canSharePorts).each([1, 2])(
  'ERR-18: a signal as soon as the port of a server with --threads %i answers ends it in order',
  async (threads) => {
    const port = await aFreePort()
    const flags = ['--memory', `--secure-port=${port}`, `--threads=${threads}`, `--data-dir=${aFolder()}`]
    const child = spawn(process.execPath, [entry, 'up', ...flags], { stdio: ['ignore', 'pipe', 'pipe'] })
    onTestFinished(() => void child.kill('SIGKILL'))
    const printed = { error: '' }
    child.stdout.resume()
    child.stderr.on('data', (chunk: Buffer) => {
      printed.error += String(chunk)
    })
    await untilListening(port)
    child.kill('SIGTERM')
    const [code, signal] = await once(child, 'close')
    expect({ code, signal }).toEqual({ code: 0, signal: null })
    expect(printed.error).toContain('stopping')
  },
)
