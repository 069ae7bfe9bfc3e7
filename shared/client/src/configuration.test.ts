import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { loadConfiguration, parseConfiguration, printConfiguration } from './configuration.ts'
import { readText } from './request.ts'
import { createHttpsTransport } from './transports/https-transport.ts'

const configuration = {
  server: 'https://127.0.0.1:6443/base',
  certificateAuthority: '-----CA-----\n',
  clientCertificate: '-----CERT-----\n',
  clientKey: '-----KEY-----\n',
  namespace: 'a',
  serverName: 'api.example.com',
}

test('a printed configuration is read back unchanged', async () => {
  const text = printConfiguration({ cluster: 'orch', user: 'orch-admin', configuration })
  expect(await parseConfiguration(text)).toEqual(configuration)
})

test('paths in a configuration are relative to its folder', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'configuration-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'ca.crt'), 'CA')
  writeFileSync(join(folder, 'token'), 'secret\n')
  writeFileSync(
    join(folder, 'config'),
    `current-context: x
clusters: [{name: c, cluster: {server: "http://h", certificate-authority: ca.crt}}]
contexts: [{name: x, context: {cluster: c, user: u}}, {name: other, context: {cluster: none}}]
users: [{name: u, user: {tokenFile: token}}]
`,
  )
  expect(await loadConfiguration(join(folder, 'config'))).toEqual({ server: 'http://h', certificateAuthority: 'CA', token: 'secret' })
  await expect(loadConfiguration(join(folder, 'config'), { context: 'other' })).rejects.toThrow('has no cluster named "none"')
})

test('a feature that this client lacks is refused', async () => {
  const text = `current-context: x
clusters: [{name: c, cluster: {server: "http://h"}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
users: [{name: u, user: {auth-provider: {name: gcp}}}]
`
  await expect(parseConfiguration(text)).rejects.toThrow('user u: the auth provider gcp is not supported: only oidc')
  await expect(parseConfiguration('{}')).rejects.toThrow('no current-context')
})

test('NAME-05: a path prefix in the server address precedes every path, with the token as a header', async () => {
  const server = createServer((request, response) => response.end(`${request.method} ${request.url} ${request.headers.authorization}`))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const transport = createHttpsTransport({ server: `http://127.0.0.1:${(server.address() as AddressInfo).port}/base/`, token: 't' })
  onTestFinished(() => {
    transport.close()
    server.close()
  })
  const response = await transport.send({ method: 'GET', path: '/api?x=1', headers: {} })
  expect(await readText(response)).toBe('GET /base/api?x=1 Bearer t')
})
