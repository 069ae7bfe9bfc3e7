import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { request } from 'node:https'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { namesOf } from '@orch/core/names'
import { certificateFolder, createMetrics, keepServiceCertificates, serviceTlsFiles, silentLog, systemClock } from '@orch/platform'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openProbes, type Probed } from './run-service.ts'

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

test('a healthy process reports it, and names its checks on request', async () => {
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

test('metrics are a 503 until they exist, and no other page is served', async () => {
  const metrics = createMetrics({ process: false })
  metrics.counter({ name: 'things_total', help: 'Things.' }).inc()
  const ask = await aPort({ checks: [], metrics })
  expect((await ask('/metrics')).text).toContain('things_total 1')
  // The page is printed in pieces, as the whole text of a large process would take one long turn.
  const text = vi.spyOn(metrics, 'text')
  expect(await ask('/metrics', 'HEAD')).toEqual({ code: 200, text: '' })
  expect(text).not.toHaveBeenCalled()
  expect((await ask('/api')).code).toBe(404)
  expect((await ask('/readyz', 'POST')).code).toBe(405)
  expect((await (await aPort({ checks: [], metrics: undefined }))('/metrics')).code).toBe(503)
})

test('probes from other machines need certificates', async () => {
  const opening = openProbes({
    address: { host: '0.0.0.0', port: 0 },
    tls: undefined,
    probed: () => ({ checks: [], metrics: undefined }),
    clock: systemClock,
    log: silentLog,
  })
  await expect(opening).rejects.toThrow('--probe-address=0.0.0.0:0: beyond this machine probes want client certificates')
})

/** Certificates of services, in a folder that is removed after the test. */
async function certificates() {
  const folder = mkdtempSync(join(tmpdir(), 'probes-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const names = namesOf('orch')
  await keepServiceCertificates({ files: certificateFolder(folder), names, hostNames: ['127.0.0.1'], clock: systemClock })
  return folder
}

function ask(url: string, shown: { cert?: string; key?: string; ca?: string }): Promise<{ code: number; text: string }> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { agent: false, ...shown }, (response) => {
      let text = ''
      response.on('data', (chunk: Buffer) => {
        text += chunk.toString()
      })
      response.on('error', reject)
      response.on('end', () => resolve({ code: response.statusCode ?? 0, text }))
    })
    asked.on('error', reject)
    asked.end()
  })
}

test('only a client with a certificate of the services is answered beyond this machine, and no other page is served there', async () => {
  const [ours, others] = [await certificates(), await certificates()]
  const probes = await openProbes({
    address: { host: '0.0.0.0', port: 0 },
    tls: serviceTlsFiles(ours, 'storage'),
    probed: () => ({ checks: [well], metrics: createMetrics({ process: false }) }),
    clock: systemClock,
    log: silentLog,
  })
  onTestFinished(() => probes.close())
  expect(probes.url).toMatch(/^https:/)
  const url = `https://127.0.0.1:${new URL(probes.url).port}`
  const read = (folder: string, file: string) => readFileSync(join(folder, file), 'utf8')
  const ca = read(ours, 'ca.crt')
  const shown = { ca, cert: read(ours, 'gateway.crt'), key: read(ours, 'gateway.key') }
  expect(await ask(`${url}/readyz`, shown)).toEqual({ code: 200, text: 'ok' })
  expect((await ask(`${url}/metrics`, shown)).code).toBe(200)
  expect((await ask(`${url}/orch.storage.v1.Storage/Get`, shown)).code).toBe(404)
  await expect(ask(`${url}/readyz`, { ca })).rejects.toThrow()
  await expect(ask(`${url}/readyz`, { ca, cert: read(others, 'gateway.crt'), key: read(others, 'gateway.key') })).rejects.toThrow()
  await expect(fetch(`http://127.0.0.1:${new URL(probes.url).port}/readyz`)).rejects.toThrow()
})

test('a target that is no URL is a 404, and the process continues', async () => {
  const probes = await openProbes({
    address: { host: '127.0.0.1', port: 0 },
    tls: undefined,
    probed: () => ({ checks: [well], metrics: undefined }),
    clock: systemClock,
    log: silentLog,
  })
  onTestFinished(() => probes.close())
  for (const target of ['//', '//[', 'http://[', '*']) {
    const socket = connect({ port: Number(new URL(probes.url).port), host: '127.0.0.1' })
    socket.write(`GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
    let answer = ''
    for await (const chunk of socket) answer += String(chunk)
    expect([target, answer.slice(0, 12)]).toEqual([target, 'HTTP/1.1 404'])
  }
})
