import { fork } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePorts } from '@orch/platform/backends'
import { expect, onTestFinished, test } from 'vitest'

/** All bytes of the answer until the connection closes; undefined if no program listens yet. */
function answerTo(port: number, bytes: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    let answer: string | undefined
    const socket = connect(port, '127.0.0.1', () => socket.end(bytes, 'latin1'))
    socket.on('data', (chunk) => {
      answer = `${answer ?? ''}${chunk}`
    })
    socket.on('error', () => {}).on('close', () => resolve(answer))
  })
}

const health = 'GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'
const odd = [
  'nonsense\r\n\r\n',
  '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\u0000\u00ff\u00ff',
  `GET /${'a'.repeat(1 << 20)} HTTP/1.1\r\n`,
  'GET /__proto__ HTTP/1.1\r\nHost: x\r\n\r\n',
  'GET http://[ HTTP/1.1\r\nHost: x\r\n\r\n',
  'POST /v3/kv/put HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
  'GET /health HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 4\r\n\r\nabcd',
  'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n',
]

test('etcd of the test assets continues to answer after any bytes', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'etcd-'))
  const [port = 0] = await freePorts(1)
  const words = [`--data-dir=${folder}`, `--listen-client-urls=http://127.0.0.1:${port}`]
  const execArgv = ['--conditions=source', '--no-warnings']
  const child = fork(new URL('etcd-main.ts', import.meta.url), words, { execArgv })
  onTestFinished(() => {
    child.kill()
    rmSync(folder, { recursive: true, force: true })
  })
  await expect.poll(() => answerTo(port, health)).toContain('"health":"true"')
  for (const bytes of odd) {
    await answerTo(port, bytes)
    expect([bytes.slice(0, 40), (await answerTo(port, health))?.slice(0, 15)]).toEqual([bytes.slice(0, 40), 'HTTP/1.1 200 OK'])
  }
  expect([child.exitCode, child.signalCode]).toEqual([null, null])
})
