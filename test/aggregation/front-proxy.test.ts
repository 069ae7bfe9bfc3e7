import { X509Certificate } from 'node:crypto'
import { expect, test } from 'vitest'
import { type Api, anApi } from '../api/api.ts'
import { anApiService, registered, serviceAt } from './api-services.ts'
import { aRemoteServer, flavorsPath, servingFlavors } from './remote-server.ts'

const trustPath = '/api/v1/namespaces/orch-system/configmaps/extension-apiserver-authentication'
const trusted = 'requestheader-client-ca-file'

/** A server that was started without flags about proxies. */
async function opened(flags: readonly string[]): Promise<{ readonly api: Api; readonly trust: Record<string, string> }> {
  const api = await anApi({ flags: [...flags] })
  const { body } = await api.get(trustPath)
  return { api, trust: body['data'] as Record<string, string> }
}

test('AGG-17, AGG-24: aggregated servers get a certificate of the published authority, without any flag', async () => {
  const server = await aRemoteServer(servingFlavors)
  const { api, trust } = await opened([serviceAt(server)])
  await registered(api, anApiService(server))
  await api.get(`${flavorsPath}/namespaces/default/flavors/sweet`)
  const [arrived] = server.asked()
  const authority = new X509Certificate(trust[trusted] ?? '')
  expect([arrived?.caller, arrived?.certificate?.verify(authority.publicKey)]).toEqual(['front-proxy-client', true])
  expect(arrived?.certificate?.keyUsage).toEqual(['1.3.6.1.5.5.7.3.2'])
  const { [trusted]: _authority, 'client-ca-file': clients = '', ...rest } = trust
  expect(rest).toEqual({
    'requestheader-allowed-names': '["front-proxy-client"]',
    'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
    'requestheader-group-headers': '["X-Remote-Group"]',
    'requestheader-uid-headers': '["X-Remote-Uid"]',
    'requestheader-username-headers': '["X-Remote-User"]',
  })
  expect(new X509Certificate(clients).publicKey.equals(authority.publicKey)).toBe(false)
})

test('AGG-24, READ-26: aggregated servers get no uid header without the feature gate', async () => {
  const { trust } = await opened(['--feature-gates=RemoteRequestHeaderUID=false'])
  expect(trust).not.toHaveProperty('requestheader-uid-headers')
  expect(trust['requestheader-username-headers']).toBe('["X-Remote-User"]')
})
