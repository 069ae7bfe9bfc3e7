import { expect, test } from 'vitest'
import { aName, aNamespace, created, sharedApi } from './api.ts'

const server = sharedApi({ profile: 'kubernetes' })

/** 2^53 + 1 and three larger integers, which a double cannot represent. */
const [first, second, third, fourth] = ['9007199254740993', '9007199254740995', '9007199254740997', '9007199254740999']

/** A definition as text, because `JSON.stringify` cannot write such integers. */
const definition = (group: string) => `{
  "apiVersion": "apiextensions.k8s.io/v1",
  "kind": "CustomResourceDefinition",
  "metadata": { "name": "meters.${group}" },
  "spec": {
    "group": "${group}",
    "scope": "Namespaced",
    "names": { "plural": "meters", "kind": "Meter" },
    "versions": [{
      "name": "v1",
      "served": true,
      "storage": true,
      "schema": { "openAPIV3Schema": {
        "type": "object",
        "properties": {
          "spec": {
            "type": "object",
            "properties": {
              "start": { "type": "integer", "format": "int64", "default": ${first}, "maximum": 9223372036854774000 },
              "step": { "type": "integer", "enum": [1, ${second}], "example": ${third} },
              "marks": { "type": "array", "items": { "type": "integer" }, "x-kubernetes-list-type": "set" },
              "name": { "type": "string", "maxLength": 9223372036854775807 },
              "open": { "type": "object", "x-kubernetes-preserve-unknown-fields": true },
              "inner": { "type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true }
            },
            "x-kubernetes-validations": [{ "rule": "self.start >= ${first} || has(self.inner)" }]
          }
        }
      } },
      "selectableFields": [{ "jsonPath": ".spec.start" }],
      "additionalPrinterColumns": [{ "name": "Start", "type": "integer", "jsonPath": ".spec.start" }]
    }]
  }
}`

async function meters() {
  const group = `${aName('g')}.example.com`
  const namespace = await aNamespace(server.api)
  await created(server.api, '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition(group))
  const meter = (spec: string) => `{"apiVersion":"${group}/v1","kind":"Meter","metadata":{"name":"m"},"spec":${spec}}`
  return { group, meter, collection: `/apis/${group}/v1/namespaces/${namespace}/meters` }
}

test('CRD-104: integers beyond 2^53 stay exact in every write and representation of a custom object', async () => {
  const { meter, collection } = await meters()
  const send = (method: string, contentType: string, body: string, query = '') =>
    server.api.send(method, `${collection}/m${query}`, { headers: { 'content-type': contentType }, body })
  const stored = async () => (await server.api.get(`${collection}/m`)).text
  await created(server.api, collection, meter(`{"step":${second},"marks":[${first},${third}],"open":{"list":[{"a":${fourth}}]}}`))
  expect(await stored()).toContain(
    `"spec":{"marks":[${first},${third}],"open":{"list":[{"a":${fourth}}]},"start":${first},"step":${second}}`,
  )
  expect((await send('PATCH', 'application/merge-patch+json', `{"spec":{"start":${third}}}`)).status).toBe(200)
  expect((await send('PATCH', 'application/json-patch+json', `[{"op":"test","path":"/spec/start","value":${third}}]`)).status).toBe(200)
  expect((await send('PATCH', 'application/apply-patch+yaml', meter(`{"open":{"b":${first}}}`), '?fieldManager=f')).status).toBe(200)
  expect(await stored()).toContain(`"open":{"b":${first},"list":[{"a":${fourth}}]},"start":${third}`)
  expect((await server.api.get(`${collection}?fieldSelector=spec.start%3D${third}`)).text).toContain(`"start":${third}`)
  const table = await server.api.get(collection, { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' })
  expect(table.text).toContain(`"cells":["m",${third}]`)
  expect((await server.api.get(`${collection}/m`, { accept: 'application/yaml' })).text).toContain(`start: ${third}\n`)
})

test('CRD-149: integers beyond 2^53 in a schema are in the documents of OpenAPI, which remain served', async () => {
  const { group } = await meters()
  const protobuf = { accept: 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf' }
  const version3 = await server.api.get(`/openapi/v3/apis/${group}/v1`)
  expect(version3.text).toContain(`"default":${first},"maximum":9223372036854774000`)
  expect(version3.text).toContain(`"enum":[1,${second}]`)
  for (const answer of [await server.api.get('/openapi/v2'), await server.api.get('/openapi/v2', protobuf)]) {
    expect(answer.status).toBe(200)
    expect(answer.text).toContain(second)
  }
})

test('CRD-93: metadata of an embedded object that is a list of integers beyond 2^53 is a 400 that shows the integers', async () => {
  const { meter, collection } = await meters()
  const answer = await server.api.post(collection, meter(`{"inner":{"apiVersion":"v1","kind":"X","metadata":{"labels":[${first}]}}}`))
  expect(answer).toMatchObject({ status: 400, body: { message: expect.stringContaining(`Invalid value: {"labels":[${first}]}`) } })
})
