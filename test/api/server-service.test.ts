import { expect, test } from 'vitest'
import { type Api, anApi } from './api.ts'

interface Subset {
  readonly addresses: readonly { readonly ip: string }[]
  readonly ports: readonly { readonly port: number }[]
}

interface Slice {
  readonly endpoints: readonly { readonly addresses: readonly string[] }[]
  readonly ports: readonly { readonly port: number }[]
}

/** `address:port` of every gateway, as the Endpoints of the server's Service list them. */
async function endpointsOf(api: Api): Promise<string[]> {
  const { body } = await api.get('/api/v1/namespaces/default/endpoints/orch')
  return (body['subsets'] as Subset[]).flatMap(({ addresses, ports }) =>
    addresses.flatMap(({ ip }) => ports.map(({ port }) => `${ip}:${port}`)),
  )
}

/** `address:port` of every gateway, as the EndpointSlices of the server's Service list them. */
async function slicesOf(api: Api): Promise<string[]> {
  const { body } = await api.get('/apis/discovery.orch.io/v1/namespaces/default/endpointslices?labelSelector=orch.io/service-name%3Dorch')
  return (body.items as unknown as Slice[]).flatMap(({ endpoints, ports }) =>
    endpoints.flatMap(({ addresses }) => addresses.flatMap((address) => ports.map(({ port }) => `${address}:${port}`))),
  )
}

test('EndpointSlices of the Service of the server list every gateway that its Endpoints list', async () => {
  const api = await anApi()
  const gateways = (await api.getFromEach('/version')).length
  await expect.poll(async () => (await endpointsOf(api)).length).toBe(gateways)
  await expect.poll(async () => (await slicesOf(api)).sort()).toEqual((await endpointsOf(api)).sort())
})
