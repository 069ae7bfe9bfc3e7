import { expect, test } from 'vitest'
import { sharedApi } from './api.ts'

const server = sharedApi({ profile: 'kubernetes' })

const table = 'application/json;as=Table;v=v1;g=meta.k8s.io'
const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
const protobuf = 'application/vnd.kubernetes.protobuf'
const media = `application/json, application/yaml, ${protobuf}`
const onlyThese = `only the following media types are accepted: ${media}`
const noRoute = `406: Not Acceptable\n\nAvailable representations: ${media}`
const toJson = [
  '*/*',
  `${table},application/json`,
  'text/plain;q=0.9,application/json;q=0.1',
  'application/json;q=0',
  'application/json;q=x',
]

test.each([
  ['/api', noRoute],
  ['/api/v1', noRoute],
  ['/apis/apps/v1', noRoute],
  ['/apis', onlyThese],
  ['/apis/apps', onlyThese],
])('MACH-DISC-02: %s is JSON, YAML or Protobuf, and otherwise a 406 that names these', async (path, unknown) => {
  for (const accept of ['application/json', 'application/yaml', protobuf])
    expect(await server.api.get(path, { accept })).toMatchObject({ status: 200, headers: { 'content-type': accept } })
  for (const accept of toJson)
    expect(await server.api.get(path, { accept })).toMatchObject({ status: 200, headers: { 'content-type': 'application/json' } })
  const refused = async (accept: string) => {
    const { status, body } = await server.api.get(path, { accept })
    return [status, body.message]
  }
  for (const accept of ['application/xml', 'text/plain', 'APPLICATION/JSON', 'json']) expect(await refused(accept)).toEqual([406, unknown])
  for (const accept of [table, 'application/json;v=v1', `${aggregated.replace('v2', 'v9')}`])
    expect(await refused(accept)).toEqual([406, onlyThese])
  expect((await refused('application/*'))[1]).toBe(unknown === noRoute ? noRoute : undefined)
  expect((await refused('*'))[1]).toBe(unknown === noRoute ? noRoute : undefined)
})

test('MACH-OPS-04: the version and the list of paths are indented JSON for each client', async () => {
  for (const accept of ['application/json', 'application/json;q=0.5, application/yaml'])
    for (const path of ['/version', '/']) expect((await server.api.get(path, { accept })).text).toMatch(/^\{\n {2}"/)
})

test.each(['/healthz/', '/healthz/ping/', '/metrics/', '/openapi/v2/', '/openapi/v3/', '//'])('ADDR-17: %s is no path', async (path) => {
  expect((await server.api.get(path)).status).toBe(404)
})

test.each(['/api/v2', '/apis/nope/v1', '/apis/apps/v2', '/api/v1/bindings', '/api/v1/namespaces/default/bindings/x'])(
  'ERR-18: %s is a 404 with every method',
  async (path) => {
    for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS']) expect((await server.api.send(method, path)).status).toBe(404)
  },
)

test('MACH-DISC-02: below /apis the aggregated form is a 406', async () => {
  for (const path of ['/api', '/apis']) expect((await server.api.get(path, { accept: aggregated })).status).toBe(200)
  for (const path of ['/apis/apps', '/apis/apps/v1', '/api/v1'])
    expect((await server.api.get(path, { accept: aggregated })).status).toBe(406)
})

test('MACH-DISC-03: lists of groups accept any method, and a version only GET and HEAD', async () => {
  for (const path of ['/apis', '/apis/apps']) {
    const { text } = await server.api.get(path)
    for (const method of ['POST', 'PUT', 'OPTIONS']) expect(await server.api.send(method, path)).toMatchObject({ status: 200, text })
  }
  for (const path of ['/api', '/api/v1', '/apis/apps/v1', '/version', '/openid/v1/jwks'])
    expect((await server.api.send('POST', path)).status).toBe(405)
})

test.each([
  ['/version', 'application/json'],
  ['/.well-known/openid-configuration', 'application/json'],
  ['/openid/v1/jwks', 'application/jwk-set+json'],
])('MACH-OPS-04: %s is %s, and a 406 that names it for another form', async (path, type) => {
  for (const accept of [type, '*/*', `${type};as=Table`, `application/xml, ${type};q=0.1`, `${type};q=0`])
    expect(await server.api.get(path, { accept })).toMatchObject({ status: 200, headers: { 'content-type': type } })
  const message = `406: Not Acceptable\n\nAvailable representations: ${type}`
  for (const accept of ['application/xml', 'application/yaml', 'application/*'])
    expect((await server.api.get(path, { accept })).status).toBe(406)
  expect((await server.api.get(path, { accept: 'text/plain' })).body).toMatchObject({ reason: 'NotAcceptable', message })
})

const protobuf2 = 'application/com.github.proto-openapi.spec.v2'

test.each([
  ['application/json', 'application/json'],
  ['application/*', 'application/json'],
  [`${protobuf2}@v1.0+protobuf`, `${protobuf2}.v1.0+protobuf`],
  [`${protobuf2}.v1.0+protobuf`, `${protobuf2}.v1.0+protobuf`],
  [`${protobuf2}@v1.0+protobuf;q=0.1,application/json`, 'application/json'],
  [`application/json;q=0.1, ${protobuf2}@v1.0+protobuf`, `${protobuf2}.v1.0+protobuf`],
])('MACH-OAPI-01: OpenAPI 2 for a client that accepts %s is %s', async (accept, type) => {
  const answer = await server.api.get('/openapi/v2', { accept })
  expect(answer).toMatchObject({ status: 200, headers: { 'content-type': type, vary: 'Accept-Encoding, Accept' } })
})

test.each(['/openapi/v2', '/openapi/v3/apis/apps/v1'])('MACH-OAPI-01: %s is a 406 without a body for an unsupported form', async (path) => {
  for (const accept of ['application/xml', 'application/yaml', 'text/plain'])
    expect(await server.api.get(path, { accept })).toMatchObject({ status: 406, text: '' })
  expect((await server.api.get(path, { accept: 'application/*' })).headers['content-type']).toBe('application/json')
})

test.each(['application/com.github.proto-openapi.spec.v3.v1.0+protobuf', 'application/com.github.proto-openapi.spec.v3@v1.0+protobuf'])(
  'MACH-OAPI-01: an OpenAPI 3 document is Protobuf for a client that accepts %s, under the same ETag',
  async (accept) => {
    const path = '/openapi/v3/apis/apps/v1'
    const { status, headers, text } = await server.api.get(path, { accept })
    const json = await server.api.get(path)
    expect({ status, type: headers['content-type'] }).toEqual({ status: 200, type: accept.replace('@', '.') })
    expect([text.startsWith('\n\u00053.0.0'), headers['etag']]).toEqual([true, json.headers['etag']])
    expect((await server.api.get(path, { accept, 'if-none-match': headers['etag'] ?? '' })).status).toBe(304)
  },
)
