import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { issueAuthority, issueServing } from '../../shared/platform/src/tls/issue.ts'
import { deployFolder } from './manifests.ts'

async function probe(url: string): Promise<number | null> {
  const asked = spawn(process.execPath, [join(deployFolder, 'probe.mjs'), url], { stdio: 'ignore' })
  const [code] = (await once(asked, 'exit')) as [number | null]
  return code
}

test('the probe of the image ends well where the process is well, and badly where it is not or does not answer', async () => {
  const server = createServer((request, response) => response.writeHead(request.url === '/readyz' ? 200 : 500).end())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  expect(await probe(`${url}/readyz`)).toBe(0)
  expect(await probe(`${url}/livez`)).toBe(1)
  expect(await probe('http://127.0.0.1:1/readyz')).toBe(1)
})

test('a process that shows a certificate is asked without a judgement on it', async () => {
  const authority = await issueAuthority({ commonName: 'nobody', nowMs: Date.now() })
  const { certificate, key } = await issueServing({ authority, commonName: 'nobody', names: ['elsewhere'], nowMs: Date.now() })
  const server = createTlsServer({ cert: certificate, key }, (_request, response) => response.writeHead(200).end())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  expect(await probe(`https://127.0.0.1:${(server.address() as AddressInfo).port}/readyz`)).toBe(0)
})
