import { get as httpsGet } from 'node:https'
import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { aNamespace, configMap, configMapsIn, created, namesOfItems, sharedApi, someConfigMaps } from './api.ts'

const server = sharedApi()

describe('Accept', () => {
  test.each([
    ['NEG-01', 'no Accept', undefined],
    ['NEG-02', 'application/json', 'application/json'],
    ['NEG-02', 'any', '*/*'],
    ['NEG-13', 'a weight of zero', 'application/json;q=0'],
    ['NEG-13', 'a table, then JSON', 'application/json;as=Table;v=v9;g=meta.orch.io,application/json'],
    ['NEG-13', 'something unknown, then JSON', 'text/html, application/json;q=0.9'],
    ['NEG-13', 'JSON, then anything', 'application/json, */*'],
    [
      'NEG-13',
      'an aggregated list of a kind that has none',
      'application/json;g=apidiscovery.orch.io;v=v2;as=APIGroupDiscoveryList,application/json',
    ],
  ])('%s, NEG-08: %s gives JSON', async (_id, _what, accept) => {
    const path = await someConfigMaps(server.api, 'a')
    for (const target of [path, `${path}/a`]) {
      const { status, headers, body } = await server.api.get(target, accept === undefined ? {} : { accept })
      expect({ status, type: headers['content-type'], version: body.apiVersion }).toEqual({
        status: 200,
        type: 'application/json',
        version: 'v1',
      })
    }
  })

  test('NEG-08: YAML gives YAML', async () => {
    const path = await someConfigMaps(server.api, 'a')
    const { headers, text } = await server.api.get(`${path}/a`, { accept: 'application/yaml' })
    expect(headers['content-type']).toBe('application/yaml')
    expect(text).toMatch(/^(kind: ConfigMap\napiVersion: v1|apiVersion: v1\nkind: ConfigMap)\n/)
    expect((await server.api.get(path, { accept: 'application/yaml' })).text).toContain('kind: ConfigMapList')
  })

  test.each(['text/html', 'application/xml', 'application/json;as=Unknown', 'image/*', 'application/*', 'application/json;v=v1'])(
    'NEG-09: %s is a 406 on every verb',
    async (accept) => {
      const path = await someConfigMaps(server.api, 'a')
      const answers = await Promise.all([
        server.api.get(path, { accept }),
        server.api.get(`${path}/a`, { accept }),
        server.api.post(path, configMap({ name: 'b' }), { accept }),
      ])
      expect(answers.map(({ status }) => status)).toEqual([406, 406, 406])
      expect(answers.map(({ body }) => body['reason'])).toEqual(['NotAcceptable', 'NotAcceptable', 'NotAcceptable'])
      expect(namesOfItems((await server.api.get(path)).body)).toEqual(['a'])
    },
  )

  test('NEG-10: every listable type has a JSON form', async () => {
    const { body } = await server.api.get('/apis')
    const groups = body['groups'] as { versions: { groupVersion: string }[] }[]
    const bases = ['/api/v1', ...groups.flatMap(({ versions }) => versions.map(({ groupVersion }) => `/apis/${groupVersion}`))]
    const failures: string[] = []
    let count = 0
    for (const base of bases) {
      const resources = (await server.api.get(base)).body['resources'] as { name: string; kind: string; verbs: string[] }[]
      for (const { name, kind, verbs } of resources) {
        if (name.includes('/') || !verbs.includes('list')) continue
        const { status, headers, body: list } = await server.api.get(`${base}/${name}`, { accept: 'application/json' })
        const isRight = status === 200 && headers['content-type'] === 'application/json' && list.kind === `${kind}List`
        if (!isRight) failures.push(`${base}/${name}: ${status} ${list.kind}`)
        count += 1
      }
    }
    expect(failures).toEqual([])
    expect(count).toBeGreaterThan(50)
  })
})

describe('Content-Type', () => {
  test('NEG-02: may be JSON with a charset', async () => {
    const path = await someConfigMaps(server.api)
    const answer = await server.api.post(path, configMap({ name: 'a' }), { 'content-type': 'application/json; charset=utf-8' })
    expect(answer.status).toBe(201)
  })

  test('NEG-02: defaults to JSON', async () => {
    const path = await someConfigMaps(server.api)
    expect((await server.api.post(path, configMap({ name: 'a' }), { 'content-type': '' })).status).toBe(201)
  })

  test('NEG-02, NEG-05: may be YAML with an answer in JSON', async () => {
    const path = await someConfigMaps(server.api)
    const yaml = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  x: "1"\n'
    const { status, headers, body } = await server.api.post(path, yaml, { 'content-type': 'application/yaml' })
    expect({ status, type: headers['content-type'], data: body['data'] }).toEqual({
      status: 201,
      type: 'application/json',
      data: { x: '1' },
    })
  })
})

describe('the bytes of an answer', () => {
  test('NEG-02: keep text of every language', async () => {
    const path = await someConfigMaps(server.api)
    const data = { a: 'ä ß 世界 🎉 \u2028 \\ " \n \t \u0001', b: '' }
    await created(server.api, path, configMap({ name: 'a', data }))
    expect((await server.api.get(`${path}/a`)).body['data']).toEqual(data)
    expect((await server.api.get(path)).body.items[0]!['data']).toEqual(data)
  })

  test('NEG-08: are compressed if they are large, only for clients that accept it', async () => {
    const path = configMapsIn(await aNamespace(server.api))
    await created(server.api, path, configMap({ name: 'a', data: { x: 'v'.repeat(200_000) } }))
    const plain = await server.api.get(path)
    expect(plain.headers['content-encoding']).toBeUndefined()
    const small = await server.api.get('/api', { 'accept-encoding': 'gzip' })
    expect(small.headers['content-encoding']).toBeUndefined()
    const packed = await bytesOf(`${server.api.url}${path}`)
    expect(packed.encoding).toBe('gzip')
    const sameButVersion = { ...plain.body, metadata: { resourceVersion: expect.any(String) } }
    expect(JSON.parse(gunzipSync(packed.bytes).toString())).toEqual(sameButVersion)
  })

  test('READ-14: are compressed from 131,072 bytes on, and not one byte below', async () => {
    const path = configMapsIn(await aNamespace(server.api))
    await created(server.api, path, configMap({ name: 'a', data: { x: '' } }))
    const { text } = await server.api.get(`${path}/a`)
    const padding = (bytes: number) => ({ data: { x: 'v'.repeat(bytes - Buffer.byteLength(text)) } })
    for (const [bytes, encoding] of [
      [131_071, undefined],
      [131_072, 'gzip'],
    ] as const) {
      const patched = await server.api.patch(`${path}/a`, padding(bytes))
      const packed = await bytesOf(`${server.api.url}${path}/a`)
      expect([Buffer.byteLength(patched.text), packed.encoding]).toEqual([bytes, encoding])
    }
  })

  function bytesOf(url: string): Promise<{ encoding: string | undefined; bytes: Buffer }> {
    return new Promise((resolve, reject) => {
      const request = httpsGet(url, { ...server.api.credentials, headers: { 'accept-encoding': 'gzip' } }, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('end', () => resolve({ encoding: response.headers['content-encoding'], bytes: Buffer.concat(chunks) }))
      })
      request.on('error', reject)
    })
  }
})

test.each([
  ['authorization.orch.io', 'selfsubjectaccessreviews', { spec: { resourceAttributes: { verb: 'get', resource: 'pods' } } }],
  ['authorization.orch.io', 'subjectaccessreviews', { spec: { user: 'u', resourceAttributes: { verb: 'get', resource: 'pods' } } }],
  ['authentication.orch.io', 'tokenreviews', { spec: { token: 'x' } }],
])('NEG-09: %s/%s has no Table', async (group, plural, body) => {
  const table = 'application/json;as=Table;v=v1;g=meta.orch.io'
  const post = (accept: string) => server.api.post(`/apis/${group}/v1/${plural}`, body, { accept })
  expect((await post(table)).status).toBe(406)
  const second = await post(`${table},application/json`)
  expect({ status: second.status, kind: second.body.kind.toLowerCase() }).toEqual({ status: 201, kind: plural.slice(0, -1) })
})
