import { describe, expect, test } from 'vitest'
import { aServer } from './send.ts'

const collection = '/api/v1/namespaces/default/configmaps'

/** `count` members that are named by numbers. */
const many = (count: number, value: unknown, front = 'u') =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`${front}${index}`, value]))

test('VAL-10, LIM-12: fifty thousand unknown fields give a header that clients can read', async () => {
  const send = await aServer({ controllers: [] })
  const { code, headers } = await send('POST', collection, { metadata: { name: 'a' }, ...many(50_000, 1) })
  expect(code).toBe(201)
  expect(headers['warning']).toContain('299 - "unknown field \\"u0\\""')
  expect(String(headers['warning']).length).toBeLessThan(8 * 1024)
})

test('VAL-10, LIM-12: one warning longer than the bound of all warnings is cut', async () => {
  const send = await aServer({ controllers: [] })
  const { code, headers } = await send('POST', collection, { metadata: { name: 'a' }, [`long${'g'.repeat(100_000)}`]: 1 })
  expect(code).toBe(201)
  expect(headers['warning']).toMatch(/^299 - "unknown field \\"longg{200,300}"$/)
})

test('META-18, LIM-12: fifty thousand errors are not all listed', async () => {
  const send = await aServer({ controllers: [] })
  const { code, text, body } = await send('POST', collection, { metadata: { name: 'a', labels: many(50_000, '!', 'bad key ') } })
  expect(code).toBe(422)
  expect(body).toMatchObject({ reason: 'Invalid', message: expect.stringContaining('metadata.labels: Invalid value: "bad key 0"') })
  expect(text.length).toBeLessThan(2 * 1024 * 1024)
})

test('LIM-12: a list of more than 64 MiB is answered as JSON, and not as YAML or indented', async () => {
  const send = await aServer({ controllers: [] })
  const data = { a: 'x'.repeat(1_000_000) }
  await Promise.all(Array.from({ length: 68 }, (_, index) => send('POST', collection, { metadata: { name: `a${index}` }, data })))
  const message = 'a list as YAML or indented has at most 67108864 bytes: request its pages by limit'
  expect(await send('GET', `${collection}?pretty=1`)).toMatchObject({ code: 413, body: { message } })
  expect(await send('GET', `${collection}?pretty=1&limit=2`)).toMatchObject({ code: 200 })
  expect((await send('GET', collection)).code).toBe(200)
})

const definitions = '/apis/apiextensions.orch.io/v1/customresourcedefinitions'

/** The definition of a kind whose field has a default and accepts every value. */
function aDefinition(name: string, value: unknown) {
  const spec = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec, other: { ...spec, default: value } } } }
  return {
    apiVersion: 'apiextensions.orch.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${name}s.example.com` },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: `${name}s`, kind: name.toUpperCase() },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  }
}

describe('values that expand beyond their text', () => {
  const revisions = '/apis/apps/v1/namespaces/default/controllerrevisions'

  test('LIM-12: aliases of aliases in YAML are a 400', async () => {
    const send = await aServer({ controllers: [] })
    const level = (index: number) => `  x${index + 1}: &x${index + 1} [${Array(9).fill(`*x${index}`).join(',')}]`
    const data = ['  x0: &x0 [lol]', ...Array.from({ length: 10 }, (_, index) => level(index))].join('\n')
    const body = `apiVersion: apps/v1\nkind: ControllerRevision\nmetadata: {name: a}\nrevision: 1\ndata:\n${data}\n`
    const { code, body: status } = await send('POST', revisions, body, 'application/yaml')
    expect({ code, message: status.message }).toEqual({
      code: 400,
      message: expect.stringContaining('yaml: document contains excessive aliasing'),
    })
  })

  test('LIM-12: a raw value may be deep, and code that processes its parts refuses it with a 400', async () => {
    const send = await aServer({ controllers: [] })
    const deep = `${'['.repeat(9_900)}${']'.repeat(9_900)}`
    expect((await send('POST', revisions, `{"metadata":{"name":"a"},"revision":1,"data":{"a":${deep}}}`)).code).toBe(201)
    const { code, text } = await send('GET', `${revisions}/a`)
    expect([code, text.includes(deep)]).toEqual([200, true])
    const patch = `{"data":{"a":${'{"b":'.repeat(9_900)}1${'}'.repeat(9_900)}}}`
    const patched = await send('PATCH', `${revisions}/a`, patch, 'application/merge-patch+json')
    expect([patched.code, patched.text.includes('field is immutable')]).toEqual([422, true])
    const nested = `${'{"b":'.repeat(9_900)}1${'}'.repeat(9_900)}`
    const applied = `{"apiVersion":"apps/v1","kind":"ControllerRevision","metadata":{"name":"b"},"revision":1,"data":{"a":${nested}}}`
    const { code: refused } = await send('PATCH', `${revisions}/b?fieldManager=x`, applied, 'application/apply-patch+yaml')
    expect(refused).toBe(400)
    const copied = await send('PATCH', `${revisions}/a`, '[{"op":"copy","from":"/data/a","path":"/data/c"}]', 'application/json-patch+json')
    expect([copied.code, copied.text.includes('field is immutable')]).toEqual([422, true])
    const changed = await send('PUT', `${revisions}/a`, `{"metadata":{"name":"a"},"revision":2,"data":{"a":${deep}}}`)
    expect(changed.code).toBe(200)
    expect((await send('GET', '/readyz')).code).toBe(200)
  })

  test('LIM-12: a custom object with a thousand levels is stored with its managedFields, and with 1,002 levels is refused', async () => {
    const send = await aServer({ controllers: [] })
    const defined = await send('POST', definitions, aDefinition('a', {}))
    expect(defined.code).toBe(201)
    const path = '/apis/example.com/v1/namespaces/default/as'
    const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`
    const anObject = (name: string, levels: number) =>
      `{"apiVersion":"example.com/v1","kind":"A","metadata":{"name":"${name}"},"spec":${nested(levels)}}`
    await expect.poll(async () => (await send('POST', path, anObject('deepest', 999))).code).toBe(201)
    const { text } = await send('GET', `${path}/deepest`)
    expect([text.includes(nested(999)), text.split('"f:a"').length]).toEqual([true, 1_000])
    const deeper = await send('POST', path, anObject('deeper', 1_001))
    expect([deeper.code, deeper.text.includes('nested deeper than 1000 levels')]).toEqual([400, true])
    const patch = `{"spec":${nested(9_000)}}`
    expect((await send('PATCH', `${path}/deepest`, patch, 'application/merge-patch+json')).code).toBe(422)
  })

  test('LIM-12: managedFields that are deeper than any object are ignored', async () => {
    const send = await aServer({ controllers: [] })
    const fieldsV1 = `${'{"f:a":'.repeat(9_900)}{}${'}'.repeat(9_900)}`
    const entry = `{"manager":"m","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":${fieldsV1}}`
    const { code, body } = await send('POST', collection, `{"metadata":{"name":"a","managedFields":[${entry}]},"data":{"b":"c"}}`)
    expect([code, body.metadata]).toMatchObject([201, { managedFields: [{ fieldsV1: { 'f:data': { 'f:b': {} } } }] }])
  })

  test('LIM-12: a default that is deeper than any object is a 422', async () => {
    const send = await aServer({ controllers: [] })
    const deep = JSON.stringify(aDefinition('a', 'deep')).replace('"deep"', `${'{"b":'.repeat(1_500)}1${'}'.repeat(1_500)}`)
    const { code, text } = await send('POST', definitions, deep)
    expect([code, text.includes('nested deeper than 1000 levels')]).toEqual([422, true])
  })

  test('QP-21, LIM-12: deep nesting is not indented without bound', async () => {
    const send = await aServer({ controllers: [] })
    const data = `{"a":${'['.repeat(500)}${Array(20_000).fill('1').join(',')}${']'.repeat(500)}}`
    expect((await send('POST', revisions, `{"metadata":{"name":"a"},"revision":1,"data":${data}}`)).code).toBe(201)
    const { code, text } = await send('GET', `${revisions}/a?pretty=true`)
    expect(code).toBe(200)
    expect(text.length).toBeLessThan(2_000_000)
  })
})

describe('names that every object inherits', () => {
  test('META-18: are keys like any other', async () => {
    const send = await aServer({ controllers: [] })
    const data = '{"__proto__":"1","constructor":"2","hasOwnProperty":"3"}'
    const created = await send('POST', collection, `{"metadata":{"name":"a","labels":{"constructor":"x"}},"data":${data}}`)
    expect(created.code).toBe(201)
    expect(created.text).toContain(`"data":${data}`)
    expect((await send('GET', `${collection}/a`)).text).toBe(created.text)
    expect((await send('GET', `${collection}?labelSelector=constructor`)).body['items']).toHaveLength(1)
    expect((await send('GET', `${collection}?labelSelector=toString`)).body['items']).toHaveLength(0)
  })

  test('VERB-07: change only the object in a patch', async () => {
    const send = await aServer({ controllers: [] })
    await send('POST', collection, '{"metadata":{"name":"a"},"data":{"x":"1"}}')
    const merged = await send(
      'PATCH',
      `${collection}/a`,
      '{"__proto__":{"polluted":"1"},"data":{"__proto__":"2"}}',
      'application/merge-patch+json',
    )
    expect(merged.text).toContain('"data":{"__proto__":"2","x":"1"}')
    const inherited = '[{"op":"add","path":"/constructor/prototype/polluted","value":"1"}]'
    expect((await send('PATCH', `${collection}/a`, inherited, 'application/json-patch+json')).code).toBe(422)
    const own = '[{"op":"add","path":"/__proto__/polluted","value":"1"}]'
    expect((await send('PATCH', `${collection}/a`, own, 'application/json-patch+json')).code).toBe(422)
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })
})

describe('bodies with very many values', () => {
  const values = many(80_000, '')
  const tooMany = { code: 413, body: { reason: 'RequestEntityTooLarge', message: 'Request entity too large: limit is 75000 values' } }

  test('LIM-12: are a 413, in any format', async () => {
    const send = await aServer({ controllers: [] })
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: values }
    const yaml = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n${Object.keys(values)
      .map((key) => `  ${key}: x\n`)
      .join('')}`
    const list = `{"metadata":{"name":"a"},"revision":1,"data":{"a":[${Array(80_000).fill('1').join(',')}]}}`
    expect(await send('POST', collection, object)).toMatchObject(tooMany)
    expect(await send('POST', collection, yaml, 'application/yaml')).toMatchObject(tooMany)
    expect(await send('POST', '/apis/apps/v1/namespaces/default/controllerrevisions', list)).toMatchObject(tooMany)
    expect(await send('PATCH', `${collection}/a?fieldManager=m`, object, 'application/apply-patch+yaml')).toMatchObject(tooMany)
    expect(await send('PATCH', `${collection}/a?fieldManager=m`, yaml, 'application/apply-patch+yaml')).toMatchObject(tooMany)
    await send('POST', collection, { metadata: { name: 'a' } })
    for (const type of ['application/merge-patch+json', 'application/strategic-merge-patch+json']) {
      expect(await send('PATCH', `${collection}/a`, { data: values }, type)).toMatchObject(tooMany)
    }
    expect((await send('GET', `${collection}/a`)).body['data']).toBeUndefined()
  })

  test('LIM-12: may have a thousand managedFields entries, and no more', async () => {
    const send = await aServer({ controllers: [] })
    const entry = (index: number) => ({
      manager: `m${index}`,
      operation: 'Apply',
      apiVersion: 'v1',
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:data': { [`f:k${index}`]: {} } },
    })
    const withEntries = (count: number) => ({
      metadata: { name: 'a', managedFields: Array.from({ length: count }, (_, index) => entry(index)) },
      data: many(1_000, 'v', 'k'),
    })
    expect(await send('POST', collection, withEntries(1_001))).toMatchObject({
      code: 422,
      body: { message: expect.stringContaining('metadata.managedFields: Too many: 1001: must have at most 1000 items') },
    })
    expect((await send('POST', collection, withEntries(1_000))).code).toBe(201)
    expect((await send('PUT', `${collection}/a`, withEntries(1_002))).code).toBe(422)
    // An object that exists, with its creator's field entry, can be written again.
    expect((await send('PATCH', `${collection}/a`, { data: { k0: 'w' } }, 'application/merge-patch+json')).code).toBe(200)
  })

  test('LIM-12: with a hundred thousand unknown fields get warnings about the first hundred', async () => {
    const send = await aServer({ controllers: [] })
    const { code, body } = await send('POST', `${collection}?fieldValidation=Strict`, { metadata: { name: 'a' }, ...many(50_000, 1) })
    expect([code, body.message.split('unknown field').length - 1]).toEqual([400, 100])
  })

  test('DEL-12, LIM-12: with unknown options of a delete are accepted', async () => {
    const send = await aServer({ controllers: [] })
    await send('POST', collection, { metadata: { name: 'a' } })
    expect((await send('DELETE', `${collection}/a`, { kind: 'DeleteOptions', gracePeriodSeconds: 0, ...many(50_000, 1) })).code).toBe(200)
  })
})

test('META-18: an update cannot add a finalizer that a create refuses', async () => {
  const send = await aServer({ controllers: [] })
  await send('POST', collection, { metadata: { name: 'a' } })
  const { code, body } = await send('PATCH', `${collection}/a`, { metadata: { finalizers: ['no spaces'] } }, 'application/merge-patch+json')
  expect({ code, message: body.message }).toEqual({
    code: 422,
    message: expect.stringContaining('metadata.finalizers: Invalid value: "no spaces"'),
  })
})

describe('invalid options of a delete', () => {
  const rows: [title: string, options: unknown, message: RegExp][] = [
    [
      'a version that is not served',
      { kind: 'DeleteOptions', apiVersion: 'nope/v9' },
      /no kind "DeleteOptions" is registered for version "nope\/v9"/,
    ],
    [
      'half a second of grace',
      { gracePeriodSeconds: 1.5 },
      /number 1\.5 into Go struct field DeleteOptions\.gracePeriodSeconds of type int64/,
    ],
    [
      'more grace than numbers go',
      { gracePeriodSeconds: 1e300 },
      /number 1e\+300 into Go struct field DeleteOptions\.gracePeriodSeconds of type int64/,
    ],
  ]
  for (const [title, options, message] of rows) {
    test(`DEL-12: ${title} is a 400, and nothing is deleted`, async () => {
      const send = await aServer({ controllers: [] })
      await send('POST', collection, { metadata: { name: 'a' } })
      expect(await send('DELETE', `${collection}/a`, options)).toMatchObject({
        code: 400,
        body: { message: expect.stringMatching(message) },
      })
      expect((await send('GET', `${collection}/a`)).code).toBe(200)
    })
  }

  test('DEL-11: a grace period beyond the maximum is cut to the maximum', async () => {
    const send = await aServer({ controllers: [] })
    const spec = { nodeName: 'n', terminationGracePeriodSeconds: Number.MAX_SAFE_INTEGER, containers: [{ name: 'c', image: 'i' }] }
    expect((await send('POST', '/api/v1/namespaces/default/pods', { metadata: { name: 'a' }, spec })).code).toBe(201)
    const { code, body } = await send('DELETE', '/api/v1/namespaces/default/pods/a')
    expect(code).toBe(200)
    expect(body.metadata).toMatchObject({ deletionTimestamp: '9999-12-31T23:59:59Z' })
  })

  test('DEL-12: any served version is accepted', async () => {
    const send = await aServer({ controllers: [] })
    for (const apiVersion of ['v1', 'meta.orch.io/v1', 'apps/v1', 'policy/v1']) {
      await send('POST', collection, { metadata: { name: 'a' } })
      expect((await send('DELETE', `${collection}/a`, { kind: 'DeleteOptions', apiVersion })).code).toBe(200)
    }
  })
})

describe('methods that a path does not support', () => {
  const rows: [title: string, method: string, path: string][] = [
    ['VERB-01: below the watch prefix nothing is created', 'POST', '/api/v1/watch/namespaces'],
    ['VERB-01: below the watch prefix nothing is deleted', 'DELETE', '/api/v1/watch/namespaces/default/configmaps'],
    ['EP-31: nothing is posted to the versions', 'POST', '/api'],
    ['EP-31: a list of resources is not patched', 'PATCH', '/apis/apps/v1'],
    ['EP-31: nothing is posted to the version', 'POST', '/version'],
  ]
  for (const [title, method, path] of rows) {
    test(title, async () => {
      const send = await aServer({ controllers: [] })
      expect(await send(method, path, { metadata: { name: 'a' } })).toMatchObject({ code: 405, body: { reason: 'MethodNotAllowed' } })
    })
  }
})

test.each([
  ['DELETE', '/apis', 'APIGroupList'],
  ['PUT', '/apis/apps', 'APIGroup'],
])('EP-31: %s %s changes nothing and is answered like a GET', async (method, path, kind) => {
  const send = await aServer({ controllers: [] })
  const { body: before } = await send('GET', path)
  const { code, body } = await send(method, path, { metadata: { name: 'a' } })
  expect({ code, kind: body.kind }).toEqual({ code: 200, kind })
  expect((await send('GET', path)).body).toEqual(before)
})

test('LIM-12: repeated patches do not grow an object beyond the bound of the store', async () => {
  const send = await aServer({ controllers: [] })
  const templates = '/api/v1/namespaces/default/podtemplates'
  const spec = { containers: [{ name: 'c', image: 'i', env: [{ name: 'first' }] }] }
  await send('POST', templates, { metadata: { name: 'a' }, template: { metadata: { labels: { a: 'b' } }, spec } })
  const codes: number[] = []
  let message = ''
  for (const name of ['a', 'b', 'c']) {
    const value = { name, value: 'x'.repeat(700_000) }
    const patch = [{ op: 'add', path: '/template/spec/containers/0/env/-', value }]
    const { code, body } = await send('PATCH', `${templates}/a`, patch, 'application/json-patch+json')
    codes.push(code)
    message = body.message
  }
  expect([codes, message]).toEqual([[200, 200, 500], 'etcdserver: request is too large'])
  const { code, text } = await send('GET', `${templates}/a`)
  expect([code, text.length < 1.5 * 1024 * 1024]).toEqual([200, true])
})
