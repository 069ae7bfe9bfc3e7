import { Duplex } from 'node:stream'
import { expect, test } from 'vitest'
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
  const access = { address: '10.244.0.2', clock, connect }
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
