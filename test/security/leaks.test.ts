import { readFileSync } from 'node:fs'
import { Agent } from 'node:https'
import { join } from 'node:path'
import { loadConfiguration } from '@orch/client'
import { expect, onTestFinished, test } from 'vitest'
import { aFile } from '../authentication/server.ts'
import { ask } from '../http/ask.ts'
import { aKey, anOidcProvider } from '../identity/oidc-provider.ts'
import { aTokenWebhook, withStatus } from '../identity/token-webhook.ts'
import { startTraced } from '../telemetry/traced-server.ts'

const marks = {
  staticToken: 'mark-static-91be',
  webhookToken: 'mark-webhook-03ac',
  secretData: 'mark-secret-4e4e',
}

test('AUDIT-08, AUTHN-BOOT-06: spans, logs and audit events of a process contain no token, key or content of a Secret', async () => {
  const provider = await anOidcProvider(aKey('one'))
  const { configFile, asked } = await aTokenWebhook(withStatus({ authenticated: true, user: { username: 'hooked' } }))
  const auditFile = aFile('')
  const rules = [{ level: 'Metadata', resources: [{ group: '', resources: ['secrets'] }] }, { level: 'RequestResponse' }]
  const policy = JSON.stringify({ apiVersion: 'audit.orch.io/v1', kind: 'Policy', rules })
  const { collector, server } = await startTraced([
    '--memory',
    '--log-level=trace',
    '--log-format=json',
    `--audit-policy-file=${aFile(policy)}`,
    `--audit-log-path=${auditFile}`,
    `--token-auth-file=${aFile(`${marks.staticToken},static,1\n`)}`,
    `--oidc-issuer-url=${provider.issuer}`,
    '--oidc-client-id=orch',
    `--oidc-ca-file=${provider.caFile}`,
    `--authentication-token-webhook-config-file=${configFile}`,
  ])
  const configuration = await loadConfiguration(join(server.dataDir, 'admin.conf'))
  const agent = new Agent({ ca: configuration.certificateAuthority, keepAlive: true })
  onTestFinished(() => agent.destroy())
  const answerTo = async (token: string) =>
    (await ask(`${server.url}/api/v1/namespaces/default/secrets/s`, { agent, headers: { authorization: `Bearer ${token}` } })).text

  const secrets = server.client.resource({ group: '', version: 'v1', plural: 'secrets', namespaced: true })
  const data = { k: Buffer.from(marks.secretData).toString('base64') }
  await secrets.create({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 's', namespace: 'default' }, data })
  const idToken = await provider.token({ sub: 'jane' })
  // The server used each credential: the answer names the user.
  expect(await answerTo(marks.staticToken)).toContain('User \\"static\\"')
  expect(await answerTo(idToken)).toContain(`User \\"${provider.issuer}#jane\\"`)
  expect(await answerTo(marks.webhookToken)).toContain('User \\"hooked\\"')
  expect(await answerTo(`${idToken.slice(0, -8)}AAAAAAAA`)).toContain('User \\"hooked\\"')
  await collector.find(({ name, attributes }) => name === 'GET' && attributes['http.response.status_code'] === 403)
  const exit = await server.stop()

  const sent = asked.map(({ review }) => String(review.spec.token))
  expect(sent).toContain(marks.webhookToken)
  const audited = readFileSync(auditFile, 'utf8')
  expect(audited).toContain('"username":"hooked"')
  const everything = `${JSON.stringify(collector.spans, (_key, value) => (typeof value === 'bigint' ? String(value) : value))}${audited}${JSON.stringify(exit)}`
  expect(exit.error).toContain('"level":"debug"')
  const signature = idToken.slice(idToken.lastIndexOf('.') + 1)
  const keys = [configuration.clientKey ?? '', readFileSync(configFile, 'utf8')].map((text) => text.replaceAll('\n', '').slice(60, 120))
  const searched = { ...marks, data: data.k, idToken, signature, ownKey: keys[0] ?? '', hookKey: keys[1] ?? '' }
  for (const [name, mark] of Object.entries(searched)) {
    expect({ name, isWritten: everything.includes(mark) }).toEqual({ name, isWritten: false })
  }
  expect(everything).not.toContain('PRIVATE KEY')
})
