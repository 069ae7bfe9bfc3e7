import { Duplex } from 'node:stream'
import { expect, test } from 'vitest'
import { callAction } from './own-commands.ts'
import { callPort } from './port-calls.ts'

test('outside of a virtual clock a probe without an answer ends at its timeout, and a hook after ten seconds', async () => {
  const waits: number[] = []
  const clock = {
    after(delayMs: number, run: () => void) {
      waits.push(delayMs)
      queueMicrotask(run)
      return { cancel() {} }
    },
  }
  const connect = () => new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() })
  const access = { address: '10.244.0.2', clock, level: 37, connect }
  const call = (action: object) => callPort({ httpGet: { port: 80 }, ...action }, { name: 'main', resources: {} }, access)
  const late = {
    passes: false,
    output: 'Get "http://10.244.0.2:80/": context deadline exceeded (Client.Timeout exceeded while awaiting headers)',
  }
  expect([await call({ timeoutSeconds: 2 }), await call({})]).toEqual([late, late])
  const lateHealth = { passes: false, output: 'timeout: health rpc did not complete within 1m30s' }
  expect(await call({ httpGet: undefined, grpc: { port: 80 }, timeoutSeconds: 90 })).toEqual(lateHealth)
  expect(waits).toEqual([2_000, 10_000, 90_000])
})

const standing = { after: () => ({ cancel() {} }) }

test('a probe by TCP ends as soon as its connection is open', async () => {
  const socket = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() })
  const connect = () => {
    queueMicrotask(() => socket.emit('connect'))
    return socket
  }
  const access = { address: '10.244.0.2', clock: standing, level: 37, connect }
  const tcpSocket = { tcpSocket: { port: 80 }, timeoutSeconds: 1 }
  expect(await callPort(tcpSocket, { name: 'main', resources: {} }, access)).toEqual({ passes: true, output: '' })
  expect(socket.destroyed).toBe(true)
})

test('a call that throws fails with the error', async () => {
  const find = () => {
    throw new Error('no files')
  }
  const connect = () => new Duplex()
  const access = { address: '10.244.0.2', clock: standing, level: 37, connect, find }
  const finding = await callAction({ name: 'main', resources: {} }, { exec: { command: ['true'] }, timeoutSeconds: 1 }, access)
  expect(finding).toEqual({ passes: false, output: 'no files' })
})
