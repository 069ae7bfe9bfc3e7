import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { aName, created, sharedApi } from './api.ts'
import { sendRaw } from './raw.ts'

const server = sharedApi()
const definitions = '/apis/apiextensions.orch.io/v1/customresourcedefinitions'
const json = 'application/json'
const protobuf = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf'

/** OpenAPI 2 as it comes when it may be compressed, and its tag. */
async function packed(accept: string) {
  const { headers, bytes } = await sendRaw(server.api, 'GET', '/openapi/v2', { headers: { accept, 'accept-encoding': 'gzip' } })
  expect([headers['content-encoding'], headers.vary]).toEqual(['gzip', 'Accept-Encoding'])
  return { bytes: gunzipSync(bytes), tag: headers['etag'] }
}

async function plain(accept: string) {
  const { headers, bytes } = await sendRaw(server.api, 'GET', '/openapi/v2', { headers: { accept } })
  expect(headers['content-encoding']).toBeUndefined()
  return { bytes, tag: headers['etag'] }
}

test('OpenAPI 2 is the same compressed and as it is, before and after a definition has changed', async () => {
  const group = `${aName('g')}.example.com`
  const path = `${definitions}/things.${group}`
  const version = (description: string) => ({
    name: 'v1',
    served: true,
    storage: true,
    schema: { openAPIV3Schema: { type: 'object', description } },
  })
  await created(server.api, definitions, {
    apiVersion: 'apiextensions.orch.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `things.${group}` },
    spec: { group, scope: 'Cluster', names: { plural: 'things', kind: 'Thing' }, versions: [version('the first text')] },
  })
  for (const text of ['the first text', 'another text']) {
    expect((await server.api.patch(path, { spec: { versions: [version(text)] } })).status).toBe(200)
    for (const accept of [json, protobuf]) {
      await expect.poll(async () => (await packed(accept)).bytes.includes(text), { timeout: 30_000 }).toBe(true)
      // Gateways hear of a change one after the other: documents with one tag are compared.
      const both = async () => {
        const [one, other] = [await packed(accept), await plain(accept)]
        return one.tag === other.tag ? one.bytes.equals(other.bytes) : 'another tag'
      }
      await expect.poll(both, { timeout: 30_000 }).toBe(true)
    }
  }
})
