import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { aName, created, sharedApi } from './api.ts'
import { sendRaw } from './raw.ts'

const server = sharedApi()
const definitions = '/apis/apiextensions.orch.io/v1/customresourcedefinitions'
const json = 'application/json'
const protobuf = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf'

/** OpenAPI 2 in compressed form, and its ETag. */
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

test('the compressed OpenAPI 2 equals the plain one, before and after a definition has changed', async () => {
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
      // Gateways hear of a change one after the other, so the test compares documents with equal ETags.
      const both = async () => {
        const [one, other] = [await packed(accept), await plain(accept)]
        return one.tag === other.tag ? one.bytes.equals(other.bytes) : 'another tag'
      }
      await expect.poll(both, { timeout: 30_000 }).toBe(true)
    }
  }
})

test('the compressed index of OpenAPI 3 equals the plain one, when it is long enough for compression in pieces', async () => {
  const label = aName('many')
  const schema = { openAPIV3Schema: { type: 'object' } }
  const add = (group: string) =>
    created(server.api, definitions, {
      apiVersion: 'apiextensions.orch.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `things.${group}`, labels: { label } },
      spec: {
        group,
        scope: 'Cluster',
        names: { plural: 'things', kind: 'Thing' },
        versions: ['v1', 'v2', 'v3', 'v4', 'v5'].map((name) => ({ name, served: true, storage: name === 'v1', schema })),
      },
    })
  const groups = Array.from({ length: 120 }, (_, index) => `${label}${index}.example.com`)
  for (const group of groups) await add(group)
  const index = async (headers: Record<string, string>) => sendRaw(server.api, 'GET', '/openapi/v3', { headers })
  const both = async () => {
    const [one, other] = [await index({ 'accept-encoding': 'gzip' }), await index({})]
    expect(one.headers['content-encoding']).toBe('gzip')
    expect(other.bytes.length).toBeGreaterThan(128 * 1024)
    const paths = Object.keys(JSON.parse(other.bytes.toString()).paths)
    return { isSame: gunzipSync(one.bytes).equals(other.bytes), isWhole: groups.every((group) => paths.includes(`apis/${group}/v1`)) }
  }
  await expect.poll(both, { timeout: 30_000 }).toEqual({ isSame: true, isWhole: true })
  groups.push(`${label}.example.com`)
  await add(`${label}.example.com`)
  await expect.poll(both, { timeout: 30_000 }).toEqual({ isSame: true, isWhole: true })
  expect((await server.api.delete(`${definitions}?labelSelector=label=${label}`)).status).toBe(200)
})
