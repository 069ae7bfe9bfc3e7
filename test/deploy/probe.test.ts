import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { issueAuthority, issueClient, issueServing } from '../../shared/platform/src/tls/issue.ts'
import { deployFolder } from './manifests.ts'

async function probe(...words: readonly string[]): Promise<number | null> {
  const asked = spawn(process.execPath, [join(deployFolder, 'probe.mjs'), ...words], { stdio: 'ignore' })
  const [code] = (await once(asked, 'exit')) as [number | null]
  return code
}

test('the probe of the image succeeds for a healthy process, and fails otherwise or without an answer', async () => {
  const server = createServer((request, response) => response.writeHead(request.url === '/readyz' ? 200 : 500).end())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  expect(await probe(`${url}/readyz`)).toBe(0)
  expect(await probe(`${url}/livez`)).toBe(1)
  expect(await probe('http://127.0.0.1:1/readyz')).toBe(1)
})

test('the probe does not verify the certificate of a process', async () => {
  const authority = await issueAuthority({ commonName: 'nobody', nowMs: Date.now() })
  const { certificate, key } = await issueServing({ authority, commonName: 'nobody', names: ['elsewhere'], nowMs: Date.now() })
  const server = createTlsServer({ cert: certificate, key }, (_request, response) => response.writeHead(200).end())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  expect(await probe(`https://127.0.0.1:${(server.address() as AddressInfo).port}/readyz`)).toBe(0)
})

test('a probe that needs a certificate uses the one in its folder; another authority, or no certificate, fails', async () => {
  const authority = await issueAuthority({ commonName: 'services', nowMs: Date.now() })
  const { certificate: cert, key } = await issueServing({ authority, commonName: 'storage', names: ['localhost'], nowMs: Date.now() })
  const options = { cert, key, ca: authority.certificate, requestCert: true, rejectUnauthorized: true }
  const server = createTlsServer(options, (_request, response) => response.writeHead(200).end())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/readyz`
  const strange = await issueAuthority({ commonName: 'strange', nowMs: Date.now() })
  const folders = { right: await aFolderWith(authority), wrong: await aFolderWith(strange) }
  expect(await probe(url, folders.right)).toBe(0)
  expect(await probe(url, folders.wrong)).toBe(1)
  expect(await probe(url)).toBe(1)
  expect(await probe(url, join(folders.right, 'gone'))).toBe(1)
})

/** A folder with a client certificate in the layout of a mounted Secret. */
async function aFolderWith(authority: Awaited<ReturnType<typeof issueAuthority>>): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'probe-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const { certificate, key } = await issueClient({ authority, commonName: 'probe', organizations: [], nowMs: Date.now() })
  writeFileSync(join(folder, 'tls.crt'), certificate)
  writeFileSync(join(folder, 'tls.key'), key)
  return folder
}
