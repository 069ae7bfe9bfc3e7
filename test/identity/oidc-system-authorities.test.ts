import { start } from 'orch'
import { expect, onTestFinished, test, vi } from 'vitest'
import { whoAmI } from './call.ts'
import { aKey, anOidcProvider } from './oidc-provider.ts'

// Alone in its file: the authorities of the system are read once.
test('AUTHN-OIDC-25, FLAG-14: a provider is trusted by the authorities of the machine without a file', async () => {
  const provider = await anOidcProvider(aKey('one'))
  vi.stubEnv('SSL_CERT_FILE', provider.caFile)
  const server = await start({
    flags: ['--authorization-mode=AlwaysAllow', `--oidc-issuer-url=${provider.issuer}`, '--oidc-client-id=orch'],
    controllers: [],
  })
  onTestFinished(() => server.stop())
  const headers = { authorization: `Bearer ${await provider.token({ sub: 'jane' })}` }
  expect(await whoAmI(server, { headers })).toMatchObject({ username: `${provider.issuer}#jane` })
})
