import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createLog } from '@orch/platform'
import { expect, onTestFinished, test } from 'vitest'
import { created, openApi } from '../api/api.ts'
import { aFolder, aPolicy } from './audited.ts'

const marks = {
  staticToken: 'mark-static-token-7d1f',
  bootstrapSecret: 'markbootstrap123',
  webhookToken: 'mark-webhook-token-55e0',
  hookCredential: 'mark-hook-credential-aa91',
  secretData: 'mark-secret-data-c2c2',
  wrongToken: 'mark-wrong-token-0b0b',
}

/** A TokenReview server that knows one token and records the tokens that it reviewed. */
async function aReviewer(): Promise<{ url: string; shown: string[] }> {
  const shown: string[] = []
  const server = createServer((request, response) => {
    let text = ''
    request.on('data', (chunk: Buffer) => {
      text += chunk.toString()
    })
    request.on('end', () => {
      shown.push(`${request.headers.authorization} ${text}`)
      const isKnown = text.includes(marks.webhookToken)
      const status = isKnown ? { authenticated: true, user: { username: 'hooked' } } : { authenticated: false }
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ apiVersion: 'authentication.orch.io/v1beta1', kind: 'TokenReview', status }))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, shown }
}

function hookConfiguration(url: string): string {
  const user = { name: 'u', user: { token: marks.hookCredential } }
  const cluster = { name: 'c', cluster: { server: url } }
  const context = { name: 'x', context: { cluster: 'c', user: 'u' } }
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [cluster],
    users: [user],
    contexts: [context],
    'current-context': 'x',
  })
}

test('AUDIT-08, AUTHN-BOOT-06: no output of a run contains its credentials or the contents of its Secrets', async () => {
  const folder = aFolder()
  const reviewer = await aReviewer()
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  let written = ''
  const log = createLog({
    level: 'trace',
    format: 'json',
    write: (line) => {
      written += line
    },
  })
  const secrets = [{ group: '', resources: ['secrets'] }]
  const policy = aPolicy([{ level: 'Metadata', resources: secrets }, { level: 'RequestResponse' }])
  const auditFile = join(folder, 'audit.log')
  const api = await openApi({
    log,
    flags: [
      `--audit-policy-file=${file('policy.yaml', policy)}`,
      `--audit-log-path=${auditFile}`,
      `--token-auth-file=${file('tokens.csv', `${marks.staticToken},static,1,"dev"\n`)}`,
      '--enable-bootstrap-token-auth=true',
      `--authentication-token-webhook-config-file=${file('hook.conf', hookConfiguration(reviewer.url))}`,
    ],
  })
  let isStopped = false
  onTestFinished(async () => {
    if (!isStopped) await api.stop()
  })

  const stringData = { 'token-id': 'abcdef', 'token-secret': marks.bootstrapSecret, 'usage-bootstrap-authentication': 'true' }
  const bootstrapToken = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'bootstrap-token-abcdef' },
    type: 'bootstrap.orch.io/token',
    stringData,
  }
  await created(api, '/api/v1/namespaces/orch-system/secrets', bootstrapToken)
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, stringData: { k: marks.secretData } }
  const kept = await created(api, '/api/v1/namespaces/default/secrets', secret)
  const encoded = Buffer.from(marks.secretData).toString('base64')
  expect(JSON.stringify(kept)).toContain(encoded)

  // Each authenticates a user: a 403 names that user, and a 401 would show that the server did not use the credential.
  const asked = async (token: string) => {
    const { status, text } = await api.as({})('GET', '/api/v1/namespaces/default/secrets/s', {
      headers: { authorization: `Bearer ${token}` },
    })
    return `${status} ${text}`
  }
  expect(await asked(marks.staticToken)).toMatch(/^403 .*User \\"static\\"/)
  await expect.poll(() => asked(`abcdef.${marks.bootstrapSecret}`)).toMatch(/^403 .*User \\"system:bootstrap:abcdef\\"/)
  expect(await asked(marks.webhookToken)).toMatch(/^403 .*User \\"hooked\\"/)
  expect(await asked(marks.wrongToken)).toMatch(/^401/)
  expect(reviewer.shown.some((text) => text.includes(marks.hookCredential) && text.includes(marks.webhookToken))).toBe(true)

  await created(api, '/api/v1/namespaces/default/serviceaccounts', {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: 'robot' },
  })
  const request = { apiVersion: 'authentication.orch.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 3600 } }
  const given = await created(api, '/api/v1/namespaces/default/serviceaccounts/robot/token', request)
  const issued = (given.status as unknown as { token: string }).token
  expect(await asked(issued)).toMatch(/^403 .*system:serviceaccount:default:robot/)
  const review = { apiVersion: 'authentication.orch.io/v1', kind: 'TokenReview', spec: { token: issued } }
  const reviewed = await created(api, '/apis/authentication.orch.io/v1/tokenreviews', review)
  expect(reviewed.status).toMatchObject({ authenticated: true, user: { username: 'system:serviceaccount:default:robot' } })

  isStopped = true
  await api.stop()
  const audited = readFileSync(auditFile, 'utf8')
  expect(audited.split('\n').length).toBeGreaterThan(20)
  expect(audited).toContain('"token":"<withheld>"')
  expect(written).toContain('"level":"debug"')
  const everything = audited + written
  // The signature is the secret part of a signed token.
  const signature = issued.slice(issued.lastIndexOf('.') + 1)
  for (const [name, mark] of Object.entries({ ...marks, encoded, issued, signature })) {
    expect({ name, isWritten: everything.includes(mark) }).toEqual({ name, isWritten: false })
  }
  expect(everything).not.toContain('PRIVATE KEY')
})
