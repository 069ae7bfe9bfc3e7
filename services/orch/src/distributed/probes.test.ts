import { createMetrics, silentLog, systemClock } from '@orch/platform'
import { expect, onTestFinished, test } from 'vitest'
import { openProbes, type Probed } from './probes.ts'

async function aPort(probed: Probed) {
  const probes = await openProbes({
    address: { host: '127.0.0.1', port: 0 },
    tls: undefined,
    probed: () => probed,
    clock: systemClock,
    log: silentLog,
  })
  onTestFinished(() => probes.close())
  return async (path: string, method = 'GET') => {
    const response = await fetch(`${probes.url}${path}`, { method })
    return { code: response.status, text: await response.text() }
  }
}

const well = { name: 'store', check: () => undefined }
const ill = { name: 'store', check: () => 'the disk is full' }

test('a process that is well says so, and names its checks when asked', async () => {
  const ask = await aPort({ checks: [well], metrics: createMetrics({ process: false }) })
  for (const probe of ['healthz', 'livez', 'readyz']) expect(await ask(`/${probe}`)).toEqual({ code: 200, text: 'ok' })
  expect(await ask('/readyz?verbose')).toEqual({ code: 200, text: '[+]ping ok\n[+]store ok\nreadyz check passed\n' })
})

test('a failed check makes the process unready but not dead, and clients do not read why', async () => {
  const throwing = {
    name: 'storage',
    check() {
      throw new Error('secret')
    },
  }
  const ask = await aPort({ checks: [ill, throwing], metrics: undefined })
  expect(await ask('/livez')).toEqual({ code: 200, text: 'ok' })
  expect(await ask('/readyz')).toEqual({
    code: 500,
    text: '[+]ping ok\n[-]store failed: reason withheld\n[-]storage failed: reason withheld\nreadyz check failed\n',
  })
})

test('metrics are served once there are any, and nothing else is served', async () => {
  const metrics = createMetrics({ process: false })
  metrics.counter({ name: 'things_total', help: 'Things.' }).inc()
  const ask = await aPort({ checks: [], metrics })
  expect((await ask('/metrics')).text).toContain('things_total 1')
  expect((await ask('/api')).code).toBe(404)
  expect((await ask('/readyz', 'POST')).code).toBe(405)
  expect((await (await aPort({ checks: [], metrics: undefined }))('/metrics')).code).toBe(503)
})

test('beyond this machine probes want certificates', async () => {
  const opening = openProbes({
    address: { host: '0.0.0.0', port: 0 },
    tls: undefined,
    probed: () => ({ checks: [], metrics: undefined }),
    clock: systemClock,
    log: silentLog,
  })
  await expect(opening).rejects.toThrow('--probe-address=0.0.0.0:0: beyond this machine probes want client certificates')
})
