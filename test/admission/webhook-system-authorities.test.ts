import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { anApi, configMap } from '../api/api.ts'
import { aFolder } from '../audit/audited.ts'
import { aHookedNamespace } from './hooks.ts'
import { allowing, aWebhookServer } from './webhook-server.ts'

// Alone in its file: the authorities of the system are read once.
test('ADM-WH-35: the system’s authorities are trusted without a bundle', async () => {
  const hook = await aWebhookServer(allowing)
  const file = join(aFolder(), 'authorities.pem')
  writeFileSync(file, hook.authority.certificate)
  vi.stubEnv('SSL_CERT_FILE', file)
  const api = await anApi({ flags: ['--controllers=*,-root-ca-cert-publisher'] })
  const { path } = await aHookedNamespace(api, 'validating', hook, { clientConfig: { url: hook.url } })
  expect((await api.post(path, configMap({ name: 'a' }))).status).toBe(201)
  expect(hook.calls).toHaveLength(1)
})
