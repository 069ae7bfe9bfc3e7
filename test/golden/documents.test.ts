import { expect, test } from 'vitest'
import { sharedApi } from '../api/api.ts'
import { type Json, summarizeAggregatedDiscovery, summarizeDiscovery, summarizeOpenApi, summarizeOpenApiIndex } from './documents.ts'

const server = sharedApi({ version: '1.25', profile: 'kubernetes' })
/** The golden files contain the whole OpenAPI 3 document of this group version. */
const whole = 'apis/node.k8s.io/v1'

async function served(path: string, accept = 'application/json'): Promise<Json> {
  const answer = await server.api.get(path, { accept })
  expect(answer.status).toBe(200)
  return answer.body
}

/** Requests each path in turn. */
async function servedAt(paths: readonly string[]): Promise<ReadonlyMap<string, Json>> {
  const documents = new Map<string, Json>()
  for (const path of paths) documents.set(path, await served(path))
  return documents
}

test('ADDR-17: plain discovery equals its golden file', async () => {
  const groups = await served('/apis')
  const versions = (groups['groups'] as { versions: { groupVersion: string }[] }[]).flatMap((group) => group.versions)
  const resourceLists = await servedAt(['/api/v1', ...versions.map(({ groupVersion }) => `/apis/${groupVersion}`)])
  await expect(summarizeDiscovery({ groups, resourceLists })).toMatchFileSnapshot('discovery.golden.txt')
})

test('ADDR-17: aggregated discovery equals its golden file', async () => {
  const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
  const text = ['/api', '/apis'].map(async (path) => summarizeAggregatedDiscovery(await served(path, accept)))
  await expect((await Promise.all(text)).join('')).toMatchFileSnapshot('aggregated-discovery.golden.txt')
})

test('ADDR-18: OpenAPI 2 equals its golden file, by path and definition', async () => {
  await expect(summarizeOpenApi(await served('/openapi/v2'))).toMatchFileSnapshot('openapi-v2.golden.txt')
})

test('ADDR-18: every OpenAPI 3 document equals its golden file', async () => {
  const { paths } = await served('/openapi/v3')
  const names = Object.keys(paths as object)
  const documents = await servedAt(names.map((name) => `/openapi/v3/${name}`))
  await expect(summarizeOpenApiIndex(documents)).toMatchFileSnapshot('openapi-v3.golden.txt')
})

test('ADDR-18: the OpenAPI 3 document of node.k8s.io/v1 equals its golden file', async () => {
  const { info: _info, ...document } = await served(`/openapi/v3/${whole}`)
  await expect(`${JSON.stringify(document, undefined, 1)}\n`).toMatchFileSnapshot('openapi-v3-node.golden.json')
})
