import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { type Api, aName, aNamespace, anApi, type Body, created, namesOfItems, sharedApi, until } from './api.ts'

const server = sharedApi({ version: '1.25', profile: 'kubernetes' })
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

interface Kind {
  readonly group: string
  readonly namespace: string
  readonly collection: string
  readonly definition: string
}

/** A version of gadgets whose specs have a number and a text. */
function version(name: string, more: object = {}, spec: object = {}): object {
  const properties = {
    spec: { type: 'object', properties: { size: { type: 'integer', minimum: 1 }, note: { type: 'string', maxLength: 3 } }, ...spec },
    status: { type: 'object', properties: { phase: { type: 'string', maxLength: 3 } } },
  }
  return { name, served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', properties } }, ...more }
}

/** A definition of gadgets in a new group, and a namespace for gadgets. */
async function gadgets(api: Api, spec: object = {}): Promise<Kind> {
  const group = `${aName('g')}.example.com`
  const namespace = await aNamespace(api)
  await created(api, definitions, {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `gadgets.${group}` },
    spec: { group, scope: 'Namespaced', names: { plural: 'gadgets', kind: 'Gadget' }, versions: [version('v1')], ...spec },
  })
  const collection = `/apis/${group}/v1/namespaces/${namespace}/gadgets`
  return { group, namespace, collection, definition: `${definitions}/gadgets.${group}` }
}

const gadget = (group: string, name: string, members: object = {}) => ({
  apiVersion: `${group}/v1`,
  kind: 'Gadget',
  metadata: { name },
  ...members,
})

interface DecoderCase {
  readonly name: string
  readonly body: string
  readonly yaml?: boolean
  readonly strictDecoding: boolean
  readonly preserveUnknownFields?: boolean
  readonly expectedErr?: { readonly error: string }
}

const [, ...decoderLines] = readFileSync(new URL('../../shared/core/src/structural/cases/crd-decoder.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
const yamlCases = decoderLines.map((line) => JSON.parse(line) as DecoderCase).filter(({ yaml }) => yaml === true)

interface Table extends Body {
  readonly columnDefinitions: readonly { readonly name: string; readonly type: string; readonly format: string }[]
  readonly rows: readonly { readonly cells: readonly unknown[]; readonly object: Body | null }[]
}

const table = (path: string): Promise<Table> =>
  server.api.get(path, { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }).then(({ body }) => body as Table)

const causesOf = (body: Body) => (body['details'] as { causes: { reason: string; field: string; message: string }[] }).causes

describe('definitions', () => {
  test('CRD-01: are served with all verbs, short names, a category and a status', async () => {
    const { resources } = (await server.api.get('/apis/apiextensions.k8s.io/v1')).body as unknown as { resources: Body[] }
    expect(resources.map(({ name, kind, ...rest }) => [name, kind, rest])).toEqual([
      [
        'customresourcedefinitions',
        'CustomResourceDefinition',
        {
          singularName: '',
          namespaced: false,
          verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
          shortNames: ['crd', 'crds'],
          categories: ['api-extensions'],
          storageVersionHash: expect.any(String),
        },
      ],
      [
        'customresourcedefinitions/status',
        'CustomResourceDefinition',
        { singularName: '', namespaced: false, verbs: ['get', 'patch', 'update'] },
      ],
    ])
  })

  test('CRD-05: get the stored version in an update, and only a client removes a version', async () => {
    const { definition } = await gadgets(server.api)
    const stored = (body: Body) => (body['status'] as { storedVersions: string[] }).storedVersions
    const versions = [version('v1', { storage: false }), version('v2')]
    expect(stored((await server.api.patch(definition, { spec: { versions } })).body)).toEqual(['v1', 'v2'])
    const back = [version('v1'), version('v2', { storage: false })]
    expect(stored((await server.api.patch(definition, { spec: { versions: back } })).body)).toEqual(['v1', 'v2'])
    const { body } = await server.api.patch(`${definition}/status`, { status: { storedVersions: ['v1'] } })
    expect(stored(body)).toEqual(['v1'])
  })

  test('CRD-24: keep stored versions that are patched into the status, unless the list is empty', async () => {
    const { definition } = await gadgets(server.api)
    for (const [given, kept] of [
      [['v9'], ['v9']],
      [[], ['v1']],
      [null, ['v1']],
      [
        ['v1', 'v1'],
        ['v1', 'v1'],
      ],
    ]) {
      const { status, body } = await server.api.patch(`${definition}/status`, { status: { storedVersions: given } })
      expect({ status, kept: (body['status'] as { storedVersions: unknown }).storedVersions }).toEqual({ status: 200, kept })
    }
  })

  test('CRD-09: have a Table with their creation time', async () => {
    const { definition } = await gadgets(server.api)
    const { metadata } = (await server.api.get(definition)).body
    const { columnDefinitions, rows } = await table(definition)
    expect(columnDefinitions.map(({ name }) => name)).toEqual(['Name', 'Created At'])
    expect(rows.map(({ cells }) => cells)).toEqual([[metadata.name, metadata.creationTimestamp]])
  })

  test('CRD-52, CRD-62: in a group of the project have a condition about their approval', async () => {
    const { body } = await server.api.post(definitions, {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'gadgets.conditions.k8s.io', annotations: { 'api-approved.kubernetes.io': 'unapproved, a test' } },
      spec: {
        group: 'conditions.k8s.io',
        scope: 'Namespaced',
        names: { plural: 'gadgets', kind: 'Gadget' },
        versions: [version('v1')],
      },
    })
    const { conditions } = body['status'] as { conditions: { type: string; status: string }[] }
    expect(conditions.map(({ type, status }) => `${type} ${status}`)).toEqual([
      'NamesAccepted True',
      'Established True',
      'KubernetesAPIApprovalPolicyConformant False',
    ])
  })
})

describe('paths', () => {
  test('CRD-65: without a definition are a 404', async () => {
    const { group, namespace, collection } = await gadgets(server.api, {
      versions: [version('v1'), version('v2', { storage: false, served: false })],
    })
    const cluster = await gadgets(server.api, { scope: 'Cluster' })
    const paths = [
      `/apis/other.${group}/v1/namespaces/${namespace}/gadgets`,
      `/apis/${group}/v2/namespaces/${namespace}/gadgets`,
      `/apis/${group}/v3/namespaces/${namespace}/gadgets`,
      `/apis/${group}/v1/namespaces/${namespace}/gizmos`,
      `/apis/${group}/v1/gadgets/a`,
      `/apis/${cluster.group}/v1/namespaces/${namespace}/gadgets`,
      `/apis/${cluster.group}/v1/namespaces/${namespace}/gadgets/a`,
    ]
    for (const path of paths) expect([path, (await server.api.get(path)).status]).toEqual([path, 404])
    expect((await server.api.post(`/apis/${group}/v1/gadgets`, gadget(group, 'a'))).status).toBe(404)
    const served = [collection, `/apis/${group}/v1/gadgets`, `/apis/${cluster.group}/v1/gadgets`]
    for (const path of served) expect([path, (await server.api.get(path)).status]).toEqual([path, 200])
  })

  test('MACH-HTTP-01: below a group with only custom kinds answer an unserved path in plain text, and a collection needs a name for a change', async () => {
    const { group, collection } = await gadgets(server.api)
    await until(
      () => server.api.get(collection),
      ({ status }) => status === 200,
    )
    for (const path of [`/apis/${group}/v1/mice`, `/apis/${group}/v2/gadgets`, `/apis/${group}/v2`, `/apis/${group}/v1/gadgets/x`]) {
      const { status, text, headers } = await server.api.get(path)
      expect([path, status, text, headers['content-type']]).toEqual([path, 404, '404 page not found\n', 'text/plain; charset=utf-8'])
    }
    const nameless = { status: 400, body: { reason: 'BadRequest', message: 'name must be provided' } }
    expect(await server.api.patch(collection, {})).toMatchObject(nameless)
    expect(await server.api.put(collection, {})).toMatchObject(nameless)
    expect((await server.api.get('/apis/apps/v1/mice')).body).toMatchObject({ kind: 'Status', code: 404 })
  })

  test('with selectors on unknown fields report these fields only', async () => {
    const { collection } = await gadgets(server.api)
    await until(
      () => server.api.get(collection),
      ({ status }) => status === 200,
    )
    const message = 'field label not supported: spec.size'
    const refused = { status: 400, body: { message } }
    expect(await server.api.get(`${collection}?fieldSelector=metadata.name=a,spec.size=1`)).toMatchObject(refused)
    expect(await server.api.get(`${collection}?watch=1&fieldSelector=spec.size=1`)).toMatchObject(refused)
    expect(await server.api.delete(`${collection}?fieldSelector=spec.size=1`)).toMatchObject(refused)
  })

  test('MACH-READ-03: of lists print an empty token, which built-in kinds omit', async () => {
    const { collection } = await gadgets(server.api)
    await until(
      () => server.api.get(collection),
      ({ status }) => status === 200,
    )
    expect((await server.api.get(collection)).body.metadata.continue).toBe('')
    const accept = 'application/json;as=Table;g=meta.k8s.io;v=v1'
    expect((await server.api.get(collection, { accept })).body.metadata).not.toHaveProperty('continue')
  })

  test('CRD-116: of an undeclared subresource are a 404', async () => {
    const { group, collection } = await gadgets(server.api)
    await created(server.api, collection, gadget(group, 'a'))
    for (const name of ['status', 'scale', 'other']) expect((await server.api.get(`${collection}/a/${name}`)).status).toBe(404)
  })

  test('CRD-70: are in aggregated discovery, which follows the changes of a definition', async () => {
    const { group, definition } = await gadgets(server.api)
    const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
    const found = async () => {
      const { items } = (await server.api.get('/apis', { accept })).body
      const own = items.find(({ metadata }) => metadata.name === group)
      return (own?.['versions'] ?? []) as { version: string; resources: { resource: string; shortNames?: string[] }[] }[]
    }
    const responseKind = { group, version: 'v1', kind: 'Gadget' }
    await expect.poll(found).toMatchObject([{ version: 'v1', resources: [{ resource: 'gadgets', responseKind, scope: 'Namespaced' }] }])
    await server.api.patch(definition, { spec: { names: { plural: 'gadgets', kind: 'Gadget', shortNames: ['gd'] } } })
    await expect.poll(async () => (await found())[0]?.resources[0]?.shortNames).toEqual(['gd'])
  })
})

describe('bodies', () => {
  test('CRD-76: have a name that is a DNS subdomain of up to 253 characters', async () => {
    const { group, collection } = await gadgets(server.api)
    const long = `${'a'.repeat(250)}.b`
    expect((await server.api.post(collection, gadget(group, `${long}c`))).status).toBe(201)
    for (const name of [`${long}cd`, 'A', 'a_b', '-a']) {
      const { status, body } = await server.api.post(collection, gadget(group, name))
      expect([name, status, causesOf(body)[0]?.field]).toEqual([name, 422, 'metadata.name'])
    }
  })

  test('CRD-84: may be YAML and are answered in YAML', async () => {
    const { group, collection } = await gadgets(server.api)
    const body = `apiVersion: ${group}/v1\nkind: Gadget\nmetadata: {name: a}\nspec:\n  size: 3 # of all\n  note: "on"\n`
    const headers = { 'content-type': 'application/yaml', accept: 'application/yaml' }
    const { status, text } = await server.api.send('POST', collection, { body, headers })
    expect(status).toBe(201)
    expect(text).toContain('spec:\n  note: "on"\n  size: 3\n')
    const strict = await server.api.send('POST', `${collection}?fieldValidation=Strict`, { body: `${body}  more: 1\n`, headers })
    expect([strict.status, strict.text]).toEqual([400, expect.stringContaining('unknown field \\"spec.more\\"')])
  })

  test.each(yamlCases)('CRD-84, CRD-88: $name', async ({ body, strictDecoding, preserveUnknownFields = false, expectedErr }) => {
    const group = `${aName('g')}.example.com`
    const keeps = preserveUnknownFields ? { 'x-kubernetes-preserve-unknown-fields': true } : {}
    const openAPIV3Schema = { type: 'object', properties: { num: { type: 'integer' } }, ...keeps }
    await created(server.api, definitions, {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `multiversions.${group}` },
      spec: {
        group,
        scope: 'Cluster',
        names: { plural: 'multiversions', kind: 'MultiVersion' },
        versions: [{ name: 'v1beta1', served: true, storage: true, schema: { openAPIV3Schema } }],
      },
    })
    const headers = { 'content-type': 'application/yaml' }
    const path = `/apis/${group}/v1beta1/multiversions?fieldValidation=${strictDecoding ? 'Strict' : 'Ignore'}`
    const answer = await server.api.send('POST', path, { body: body.replace('stable.example.com', group), headers })
    if (expectedErr === undefined) expect(answer.body).toMatchObject({ num: 2, ...(preserveUnknownFields && { unknown: 'foo' }) })
    else {
      expect([answer.status, answer.body['message']]).toEqual([400, expect.stringContaining(expectedErr.error)])
    }
    if (expectedErr === undefined && !preserveUnknownFields) expect(answer.body).not.toHaveProperty('unknown')
  })

  test('CRD-89: above the limit are a 413', async () => {
    const { group, collection } = await gadgets(server.api)
    const { status, body } = await server.api.post(collection, gadget(group, 'a', { spec: { note: 'x'.repeat(3_200_000) } }))
    expect([status, body['reason']]).toEqual([413, 'RequestEntityTooLarge'])
  })

  test('CRD-101: with several errors are one 422 with all errors', async () => {
    const { group, collection } = await gadgets(server.api)
    const { status, body } = await server.api.post(
      collection,
      gadget(group, 'a', { spec: { size: 0, note: 'long' }, status: { phase: 'long' } }),
    )
    expect([status, body['reason']]).toEqual([422, 'Invalid'])
    expect(
      causesOf(body)
        .map(({ reason, field }) => `${reason} ${field}`)
        .sort(),
    ).toEqual(['FieldValueInvalid spec.size', 'FieldValueTooLong spec.note', 'FieldValueTooLong status.phase'])
  })

  test('CRD-102: must have the kind of their path', async () => {
    const { group, collection } = await gadgets(server.api)
    const { status, body } = await server.api.post(collection, { ...gadget(group, 'a'), kind: 'Widget' })
    expect([status, causesOf(body)]).toEqual([
      422,
      [{ reason: 'FieldValueInvalid', field: 'kind', message: 'Invalid value: "Widget": must be Gadget' }],
    ])
  })

  test('CRD-82: in Protobuf are refused', async () => {
    const { collection } = await gadgets(server.api)
    const headers = { 'content-type': 'application/vnd.kubernetes.protobuf' }
    const { status, body } = await server.api.send('POST', collection, { body: 'k8s\0', headers })
    const reason = 'does not implement the protobuf marshalling interface and cannot be encoded to a protobuf message'
    expect([status, body['message']]).toEqual([
      400,
      `the object cannot be handled as a Gadget: object *unstructured.Unstructured ${reason}`,
    ])
  })
})

test('CRD-97: a null that is not allowed is dropped on creates and updates, and refused in an apply', async () => {
  const { api } = server
  const properties = {
    size: { type: 'integer' },
    part: { type: 'object', properties: { name: { type: 'string' } } },
    note: { type: 'string', default: 'none' },
    free: { type: 'string', nullable: true },
    any: { 'x-kubernetes-preserve-unknown-fields': true },
    port: { 'x-kubernetes-int-or-string': true },
  }
  const { group, collection } = await gadgets(api, { versions: [version('v1', {}, { properties })] })
  const nulls = { size: null, part: { name: null }, note: null, free: null }
  const dropped = { part: {}, note: 'none', free: null }
  expect((await created(api, collection, gadget(group, 'a', { spec: nulls })))['spec']).toEqual(dropped)
  const { body } = await api.get(`${collection}/a`)
  expect((await api.put(`${collection}/a`, { ...body, spec: nulls })).body['spec']).toEqual(dropped)
  const applied = (name: string, spec: object) =>
    api.send('PATCH', `${collection}/${name}?fieldManager=m&force=true`, {
      headers: { 'content-type': 'application/apply-patch+yaml' },
      body: gadget(group, name, { spec }),
    })
  for (const name of ['new', 'a']) {
    const { status, body: refusal } = await applied(name, { size: null, part: { name: null } })
    expect(status).toBe(422)
    expect(causesOf(refusal)).toEqual(
      ['spec.part.name:string', 'spec.size:integer'].map((one) => {
        const [field = '', type] = one.split(':')
        const message = `Invalid value: "null": ${field} in body must be of type ${type}: "null"`
        return { reason: 'FieldValueTypeInvalid', message, field }
      }),
    )
    expect(causesOf((await applied(name, { port: null })).body)).toMatchObject([{ field: 'spec.port', reason: 'FieldValueTypeInvalid' }])
    const { body: merged } = await applied(name, { note: null, free: null, any: null })
    expect(merged['spec']).toMatchObject({ note: 'none', free: null })
    expect(merged['spec']).not.toHaveProperty('any')
  }
})

test('CRD-85: CBOR is neither accepted nor returned without its gate', async () => {
  const { group, collection } = await gadgets(server.api)
  const cbor = 'application/cbor'
  expect((await server.api.send('POST', collection, { body: gadget(group, 'a'), headers: { 'content-type': cbor } })).status).toBe(415)
  expect((await server.api.get(collection, { accept: cbor })).status).toBe(406)
})

test('SSA-66: an apply of the status of a custom object owns nothing of its spec, even if the schema names no fields', async () => {
  const openAPIV3Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
  const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema }, subresources: { status: {} } }]
  const { group, collection } = await gadgets(server.api, { versions })
  const apply = async (path: string, manager: string, replicas: number) => {
    const body = { ...gadget(group, 'a'), spec: { replicas }, status: { replicas } }
    const headers = { 'content-type': 'application/apply-patch+yaml' }
    const answer = await server.api.send('PATCH', `${collection}/${path}?fieldManager=${manager}`, { body, headers })
    const entries = (answer.body.metadata?.['managedFields'] ?? []) as { manager: string; fieldsV1: object }[]
    return [answer.status, entries.find((entry) => entry.manager === manager)?.fieldsV1]
  }
  expect(await apply('a', 'first', 1)).toMatchObject([201, { 'f:spec': { 'f:replicas': {} } }])
  expect(await apply('a/status', 'second', 2)).toEqual([200, { 'f:status': { '.': {}, 'f:replicas': {} } }])
})

test('CRD-137: owners of fields are kept in every version, and dropped with a removed version', async () => {
  const versions = [version('v1'), version('v2', { storage: false })]
  const { group, namespace, collection, definition } = await gadgets(server.api, { versions })
  const apply = (at: string, manager: string, spec: object) =>
    server.api.send('PATCH', `/apis/${group}/${at}/namespaces/${namespace}/gadgets/a?fieldManager=${manager}`, {
      body: { apiVersion: `${group}/${at}`, kind: 'Gadget', metadata: { name: 'a' }, spec },
      headers: { 'content-type': 'application/apply-patch+yaml' },
    })
  await apply('v1', 'first', { size: 1, note: 'x' })
  const other = await apply('v2', 'second', { note: 'y' })
  expect([other.status, causesOf(other.body)[0]]).toEqual([409, expect.objectContaining({ field: '.spec.note' })])
  // When a manager leaves a field out in another version, the server removes the field.
  expect((await apply('v2', 'first', { size: 1 })).body['spec']).toEqual({ size: 1 })
  expect((await apply('v2', 'second', { note: 'y' })).body['spec']).toEqual({ note: 'y', size: 1 })
  const owners = async () => {
    const { metadata } = (await server.api.get(`${collection}/a`)).body
    return (metadata['managedFields'] as { manager: string; apiVersion: string }[])
      .map((entry) => `${entry.manager} ${entry.apiVersion}`)
      .sort()
  }
  await server.api.patch(definition, { spec: { versions: [version('v1'), version('v2', { storage: false, served: false })] } })
  await until(
    () => server.api.get(`/apis/${group}/v2/namespaces/${namespace}/gadgets`),
    ({ status }) => status === 404,
  )
  const unserved = await apply('v1', 'third', { note: 'z' })
  expect([unserved.status, causesOf(unserved.body)[0]]).toEqual([409, expect.objectContaining({ field: '.spec.note' })])
  // A manager that applies in a served version instead takes its entry with it, and a field that it leaves out goes.
  expect((await apply('v1', 'first', {})).body['spec']).toEqual({ note: 'y' })
  expect(await owners()).toEqual([`first ${group}/v1`, `second ${group}/v2`])
  await server.api.patch(definition, { spec: { versions: [version('v1')] } })
  await until(
    () => apply('v1', 'third', { note: 'z' }),
    ({ status }) => status === 200,
  )
  expect(await owners()).toEqual([`first ${group}/v1`, `third ${group}/v1`])
})

describe('the status', () => {
  test('CRD-108: is validated with ratcheting when it is written, and rules see the whole object', async () => {
    const api = await anApi({ version: '1.33', profile: 'kubernetes' })
    const subresources = { status: {} }
    const ofStatus = (phaseMax: number, more: object = {}) => {
      const phase = { type: 'string', maxLength: phaseMax }
      const status = { type: 'object', properties: { phase, seen: { type: 'integer' } } }
      const spec = { type: 'object', properties: { size: { type: 'integer' } } }
      const openAPIV3Schema = { type: 'object', properties: { spec, status }, ...more }
      return { name: 'v1', served: true, storage: true, subresources, schema: { openAPIV3Schema } }
    }
    const { group, collection, definition } = await gadgets(api, { versions: [ofStatus(3)] })
    await created(api, collection, gadget(group, 'a', { spec: { size: 2 } }))
    const write = (status: object) => api.patch(`${collection}/a/status`, { status })
    const tooLong = await write({ phase: 'long' })
    expect([tooLong.status, causesOf(tooLong.body)[0]?.field]).toEqual([422, 'status.phase'])
    expect((await write({ phase: 'ok' })).status).toBe(200)
    const rule = { rule: '!has(self.status.seen) || self.status.seen <= self.spec.size', message: 'more than there are' }
    await api.patch(definition, { spec: { versions: [ofStatus(1, { 'x-kubernetes-validations': [rule] })] } })
    const wrong = await until(
      () => write({ seen: 3 }),
      ({ status }) => status === 422,
    )
    expect(causesOf(wrong.body)).toEqual([expect.objectContaining({ message: 'Invalid value: "object": more than there are' })])
    expect((await write({ seen: 2 })).body['status']).toEqual({ phase: 'ok', seen: 2 })
    expect((await write({ phase: 'no' })).status).toBe(422)
  })
})

describe('tables', () => {
  test('CRD-121: print a date in a string column unchanged', async () => {
    const columns = [
      { name: 'Note', type: 'string', format: 'date-time', jsonPath: '.spec.note' },
      { name: 'Since', type: 'date', jsonPath: '.spec.note' },
    ]
    const spec = { properties: { note: { type: 'string' } } }
    const { group, collection } = await gadgets(server.api, { versions: [version('v1', { additionalPrinterColumns: columns }, spec)] })
    await created(server.api, collection, gadget(group, 'a', { spec: { note: '2020-01-01T00:00:00Z' } }))
    const { rows, columnDefinitions } = await table(`${collection}/a`)
    expect(columnDefinitions.map(({ type, format }) => `${type} ${format}`)).toEqual(['string name', 'string date-time', 'date '])
    expect(rows[0]?.cells).toEqual(['a', '2020-01-01T00:00:00Z', expect.stringMatching(/^\d+y/)])
  })

  test('CRD-122: show the requested part of the objects, and the token of the list', async () => {
    const { group, collection } = await gadgets(server.api)
    for (const name of ['a', 'b', 'c']) await created(server.api, collection, gadget(group, name, { spec: { size: 1 } }))
    const shown = async (includeObject: string) => (await table(`${collection}?includeObject=${includeObject}`)).rows[0]?.object
    expect(await shown('None')).toBeNull()
    expect(await shown('Metadata')).toMatchObject({ kind: 'PartialObjectMetadata', metadata: { name: 'a' } })
    expect(await shown('Object')).toMatchObject({ kind: 'Gadget', spec: { size: 1 } })
    const page = await table(`${collection}?limit=2`)
    expect(page.metadata).toEqual({ resourceVersion: expect.any(String), continue: expect.any(String), remainingItemCount: 1 })
    const rest = await table(`${collection}?limit=2&continue=${encodeURIComponent(page.metadata.continue)}`)
    expect(rest.rows.map(({ cells }) => cells[0])).toEqual(['c'])
    const { body } = await server.api.get(`${collection}?limit=2`)
    expect([namesOfItems(body), body.metadata['remainingItemCount']]).toEqual([['a', 'b'], 1])
  })
})

test('CRD-157: metrics count requests for custom objects by their kind, and the duration of comparisons in updates', async () => {
  const api = await anApi({ version: '1.25', profile: 'kubernetes' })
  const { group, collection } = await gadgets(api)
  await created(api, collection, gadget(group, 'a'))
  expect((await api.patch(`${collection}/a`, { spec: { size: 2 } })).status).toBe(200)
  // Each gateway has separate metrics.
  const line = async (start: string, rest: string): Promise<string> => {
    const find = (text: string) => text.split('\n').find((each) => each.startsWith(start) && each.includes(rest))
    return (
      find(
        (
          await until(
            () => api.get('/metrics'),
            ({ text }) => find(text) !== undefined,
          )
        ).text,
      ) ?? ''
    )
  }
  const posted = await line('apiserver_request_total{', `verb="POST",group="${group}",version="v1",resource="gadgets"`)
  expect(posted).toMatch(/code="201"\} 1$/)
  expect(await line('apiextensions_apiserver_validation_ratcheting_seconds_count', ' 1')).toMatch(/ 1$/)
})
