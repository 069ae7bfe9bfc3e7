import { createClient, createHttpsTransport, parseConfiguration } from '@orch/client'
import { start } from 'orch'
import { expect, onTestFinished, test, vi } from 'vitest'
import { aFolder } from './folder.ts'

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

// Alone in its file: the authorities of the system are read once.
test('a client configuration without an authority trusts those of the machine and no others', async () => {
  const trusted = await aServer()
  const other = await aServer()
  vi.stubEnv('SSL_CERT_FILE', aFolder().write('authorities.pem', trusted.certificateAuthority))
  expect(await trusted.version()).toMatchObject({ major: '1' })
  await expect(other.version()).rejects.toThrow(/certificate/)
})
