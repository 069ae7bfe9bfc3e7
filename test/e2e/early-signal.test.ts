import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { connect } from 'node:tls'
import { portOf } from '@orch/platform'
import { aFolder } from '@orch/testkit/folder'
import { expect, onTestFinished, test } from 'vitest'
import { canSharePorts } from '../../services/gateway/src/index.ts'

const dist = join(import.meta.dirname, '../../services/orch/dist')
const entry = join(dist, 'bundle/main.js')

/** Sends the signal before Node.js loads the first module of an `import()`. */
const signalWhileLoading = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module'
  registerHooks({
    load(url, context, next) {
      if (/command-line|kube-apiserver.js/.test(url)) process.kill(process.pid, process.env.SIGNAL)
      return next(url, context)
    },
  })`)}`

async function aFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const port = portOf(server)
  server.close()
  await once(server, 'close')
  return port
}

/** Resolves when a handshake has succeeded. The server has the processor between two attempts. */
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
  'ERR-18: a signal as soon as the port of a server with --threads %i answers stops it normally',
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

const apiServer = join(dist, 'envtest/api-server-main.js')
const ended = { code: 0, signal: null }

test.each([
  ['up', 'SIGTERM', entry, ['up', '--memory', '--secure-port=0'], ended],
  ['a service', 'SIGINT', entry, ['storage', '--listen=127.0.0.1:0', '--watch=in-process', '--insecure-transport'], ended],
  ['kube-apiserver of the test assets', 'SIGTERM', apiServer, ['--etcd-servers=http://127.0.0.1:1'], ended],
  ['a command that is no server', 'SIGTERM', entry, ['validate', '/'], { code: null, signal: 'SIGTERM' }],
])(
  'ERR-18: a signal during module loading ends a server with 0, and another command in the default way: %s',
  async (_label, name, file, words, expected) => {
    const env = { ...process.env, SIGNAL: name, ORCH_DATA_DIR: aFolder() }
    const child = spawn(process.execPath, ['--import', signalWhileLoading, file, ...words], { env, stdio: 'ignore' })
    const [code, signal] = await once(child, 'exit')
    expect({ code, signal }).toEqual(expected)
  },
)

test('ERR-18: a service whose parent process has ended meanwhile ends too', async () => {
  const starter = JSON.stringify(join(dist, 'process/terminal.js'))
  const script = `process.once('disconnect', async () => (await import(${starter})).endWithStarter()); setInterval(() => {}, 1e6)`
  const child = spawn(process.execPath, ['--eval', script], { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] })
  child.disconnect()
  const [code, signal] = await once(child, 'exit')
  expect({ code, signal }).toEqual({ code: null, signal: 'SIGTERM' })
})
