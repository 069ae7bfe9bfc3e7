import { readFileSync } from 'node:fs'
import { createClient, createHttpsTransport, parseConfiguration } from '@orch/client'
import { start } from 'orch'
import { expect, onTestFinished, test, vi } from 'vitest'
import { aHookedNamespace } from '../admission/hooks.ts'
import { allowing, aWebhookServer } from '../admission/webhook-server.ts'
import { anApi, configMap } from '../api/api.ts'
import { whoAmI } from './call.ts'
import { aFolder } from './folder.ts'
import { aKey, anOidcProvider } from './oidc-provider.ts'

async function aServer() {
  const server = await start({ controllers: [] })
  onTestFinished(() => server.stop())
  const { certificateAuthority = '', ...nameless } = await parseConfiguration(server.kubeconfig)
  const version = async () => {
    const client = createClient(createHttpsTransport(nameless))
    onTestFinished(() => client.close())
    return client.request({ method: 'GET', path: '/version' })
  }
  return { certificateAuthority, version }
}

// This file has a single test, because a process reads the system's authorities once.
test('ADM-WH-35, AUTHN-OIDC-25, FLAG-14: without a bundle or file, webhooks, providers and servers are verified by the authorities of the machine only', async () => {
  const hook = await aWebhookServer(allowing)
  const provider = await anOidcProvider(aKey('one'))
  const trusted = await aServer()
  const other = await aServer()
  const authorities = [hook.authority.certificate, readFileSync(provider.caFile, 'utf8'), trusted.certificateAuthority]
  vi.stubEnv('SSL_CERT_FILE', aFolder().write('authorities.pem', authorities.join('\n')))

  expect(await trusted.version()).toMatchObject({ major: '1' })
  await expect(other.version()).rejects.toThrow(/certificate/)

  const api = await anApi({ flags: ['--controllers=*,-root-ca-cert-publisher'] })
  const { path } = await aHookedNamespace(api, 'validating', hook, { clientConfig: { url: hook.url } })
  expect((await api.post(path, configMap({ name: 'a' }))).status).toBe(201)
  expect(hook.calls).toHaveLength(1)

  const server = await start({
    flags: ['--authorization-mode=AlwaysAllow', `--oidc-issuer-url=${provider.issuer}`, '--oidc-client-id=orch'],
    controllers: [],
  })
  onTestFinished(() => server.stop())
  const headers = { authorization: `Bearer ${await provider.token({ sub: 'jane' })}` }
  expect(await whoAmI(server, { headers })).toMatchObject({ username: `${provider.issuer}#jane` })
})
