import { describe, expect, test } from 'vitest'
import { createCatalogue } from '../catalogue/catalogue.ts'
import { structDepthMax } from '../description/node.ts'
import { runAtOnce } from '../steps.ts'
import { encodeDefinitionsInSteps, encodeOpenApi2, encodePathsInSteps } from './gnostic.ts'
import { encodeOpenApi3InSteps } from './gnostic3.ts'
import { printOpenApiInSteps } from './print.ts'
import type { Schema } from './schemas.ts'
import { openApi2DocumentInSteps, openApi2PartInSteps } from './v2.ts'
import { openApi3DocumentInSteps, openApi3Entry, openApi3Names } from './v3.ts'

type Json = Record<string, unknown>

const catalogue = createCatalogue('orch')
const issuing = { hasIssuer: true }
const document2 = runAtOnce(openApi2DocumentInSteps(catalogue, 'v1.25.0', issuing))
const document3 = (name: string) => runAtOnce(openApi3DocumentInSteps(catalogue, { name, serverVersion: 'v1.25.0', ...issuing }))
const core3 = document3('api/v1')
const schemas3 = core3.components['schemas'] as Record<string, Json>

const at = (value: unknown, ...names: (string | number)[]): unknown =>
  names.reduce<unknown>((inner, name) => (inner as Json | undefined)?.[name], value)

/** All unresolved references of a document. */
const loose = (document: unknown, prefix: string, definitions: Json): string[] => {
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map((match) => match[1] ?? '')
  return references.filter((reference) => !(reference.startsWith(prefix) && reference.slice(prefix.length) in definitions))
}

test('ADDR-18: every reference of OpenAPI 2 has its definition', () => {
  const { paths, parameters, definitions } = document2
  const named = (names: object, start: string) => Object.keys(names).map((name) => [`${start}${name}`, true])
  const all = Object.fromEntries([...named(definitions, 'definitions/'), ...named(parameters, 'parameters/')])
  expect(loose({ paths, definitions }, '#/', all)).toEqual([])
})

test('ADDR-18: every group version has a self-contained OpenAPI 3 document', () => {
  const documents = openApi3Names(catalogue, issuing).map(document3)
  expect(documents.length).toBe(48)
  expect(documents.flatMap((document) => loose(document, '#/components/schemas/', document.components['schemas'] as Json))).toEqual([])
})

test('ADDR-18: OpenAPI 3 documents omit empty lists of parameters, like the Go types', () => {
  const names = openApi3Names(catalogue, issuing)
  const empty = names.filter((name) => JSON.stringify(document3(name)).includes('"parameters":[]'))
  expect([names.length > 20, empty]).toEqual([true, []])
})

test('the description of apiVersion and kind has the wording that tools search for', () => {
  const { properties } = document2.definitions['io.orch.api.core.v1.Pod'] as { properties: Record<string, { description: string }> }
  expect(properties['apiVersion']?.description).toMatch(/^APIVersion defines /)
  expect(properties['kind']?.description).toMatch(/^Kind is a string value/)
})

test('ADDR-18: the index links the documents', () => {
  const names = openApi3Names(catalogue, issuing)
  const paths = JSON.parse(`{${names.map((name) => openApi3Entry(name, `/openapi/v3/${name}?hash=c`)).join()}}`)
  expect(Object.keys(paths)).toEqual(names)
  expect(paths['apis/apps/v1']).toEqual({ serverRelativeURL: '/openapi/v3/apis/apps/v1?hash=c' })
})

test('definitions carry the domain of the profile and their kind', () => {
  expect(at(document2.definitions['io.orch.api.storage.v1.CSINode'], 'x-kubernetes-group-version-kind')).toEqual([
    { group: 'storage.orch.io', kind: 'CSINode', version: 'v1' },
  ])
  expect(Object.keys(runAtOnce(openApi2DocumentInSteps(createCatalogue('kubernetes'), 'v', issuing)).definitions)).toContain(
    'io.k8s.api.storage.v1.CSINode',
  )
})

test('ADDR-18: the documents cover group versions, groups, and other paths', () => {
  const names = openApi3Names(catalogue, issuing)
  const others = names.filter((name) => !/^apis\/[^/]+(?:\/[^/]+)?$/.test(name))
  expect(others).toEqual(['.well-known/openid-configuration', 'api', 'api/v1', 'apis', 'openid/v1/jwks', 'version'])
  expect(names).toEqual(expect.arrayContaining(['apis/apps', 'apis/apps/v1', 'apis/autoscaling/v2']))
  expect(openApi3Names(catalogue, { hasIssuer: false })).not.toContain('openid/v1/jwks')
})

test('ADDR-17, ADDR-18: discovery paths are described, with the kinds of their answers', () => {
  const kinds = ['APIGroup', 'APIGroupList', 'APIResource', 'APIResourceList', 'APIVersions', 'GroupVersionForDiscovery']
  const described = [...kinds, 'ServerAddressByClientCIDR'].map((kind) => `io.orch.apimachinery.pkg.apis.meta.v1.${kind}`)
  expect(Object.keys(document2.definitions)).toEqual(expect.arrayContaining([...described, 'io.orch.apimachinery.pkg.version.Info']))
  expect(at(document2.paths, '/apis/apps/v1/', 'get')).toMatchObject({
    operationId: 'getAppsV1APIResources',
    tags: ['apps_v1'],
    responses: { 200: { schema: { $ref: '#/definitions/io.orch.apimachinery.pkg.apis.meta.v1.APIResourceList' } } },
  })
  expect(at(document2.paths, '/apis/apps/v1/', 'get')).not.toHaveProperty('x-kubernetes-action')
  expect(at(document3('version').paths, '/version/', 'get', 'operationId')).toBe('getCodeVersion')
})

describe('the facets of fields', () => {
  const definition = (name: string): Json => document2.definitions[`io.orch.api.${name}`] as Json
  const property = (name: string, field: string): Json => at(definition(name), 'properties', field) as Json

  test.each([
    ['KIND-CSI-08', 'storage.v1.CSINodeSpec', 'drivers', 'name'],
    ['KIND-NODE-19', 'core.v1.NodeStatus', 'addresses', 'type'],
    ['KIND-NODE-25', 'core.v1.NodeStatus', 'conditions', 'type'],
    ['KIND-RC-15', 'core.v1.ReplicationControllerStatus', 'conditions', 'type'],
  ])('%s: %s.%s merges on %s', (_, name, field, key) => {
    expect(property(name, field)).toMatchObject({ 'x-kubernetes-patch-strategy': 'merge', 'x-kubernetes-patch-merge-key': key })
  })

  test('KIND-RQ-11: the values of a scope selector are replaced', () => {
    expect(property('core.v1.ScopedResourceSelectorRequirement', 'values')['x-kubernetes-patch-strategy']).toBeUndefined()
  })

  test('the keys of server-side apply differ from the merge key', () => {
    expect(property('core.v1.ServiceSpec', 'ports')).toMatchObject({
      'x-kubernetes-patch-merge-key': 'port',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['port', 'protocol'],
    })
  })

  test.each([
    ['KIND-CSI-06', 'storage.v1.CSINode', ['spec']],
    ['KIND-CSI-16', 'storage.v1.CSINodeList', ['items']],
    ['KIND-NODE-21', 'core.v1.NodeAddress', ['type', 'address']],
    ['KIND-VA-09', 'storage.v1.VolumeAttachmentStatus', ['attached']],
    ['KIND-RC-10', 'core.v1.ReplicationControllerStatus', ['replicas']],
  ])('%s: list the required fields of %s', (_, name, required) => {
    expect(definition(name)['required']).toEqual(required)
  })

  test.each([
    ['KIND-CSI-12', 'storage.v1.VolumeNodeResources', 'count', { type: 'integer', format: 'int32' }],
    ['KIND-NODE-33', 'core.v1.ContainerImage', 'sizeBytes', { type: 'integer', format: 'int64' }],
    ['KIND-RC-14', 'core.v1.ReplicationControllerStatus', 'observedGeneration', { type: 'integer', format: 'int64' }],
    ['KIND-NODE-37', 'core.v1.NodeStatus', 'volumesInUse', { type: 'array', items: { type: 'string' } }],
    ['KIND-VA-12', 'storage.v1.VolumeAttachmentStatus', 'attachmentMetadata', { type: 'object', additionalProperties: { type: 'string' } }],
    ['KIND-NODE-16', 'core.v1.Taint', 'effect', { type: 'string', enum: ['NoExecute', 'NoSchedule', 'PreferNoSchedule'] }],
    [
      'KIND-RQ-03',
      'core.v1.ResourceQuotaSpec',
      'hard',
      { type: 'object', additionalProperties: { $ref: '#/definitions/io.orch.apimachinery.pkg.api.resource.Quantity' } },
    ],
    ['KIND-NODE-28', 'core.v1.NodeCondition', 'lastHeartbeatTime', { $ref: '#/definitions/io.orch.apimachinery.pkg.apis.meta.v1.Time' }],
    ['KIND-VA-10', 'storage.v1.VolumeAttachmentStatus', 'attachError', { $ref: '#/definitions/io.orch.api.storage.v1.VolumeError' }],
    [
      'KIND-VA-08, KIND-GEN-08',
      'storage.v1.VolumeAttachmentSource',
      'inlineVolumeSpec',
      { $ref: '#/definitions/io.orch.api.core.v1.PersistentVolumeSpec' },
    ],
    ['KIND-MISC-06', 'core.v1.PodSpec', 'runtimeClassName', { type: 'string' }],
  ])('%s: show the type of %s.%s', (_, name, field, schema) => {
    expect(property(name, field)).toMatchObject(schema)
  })

  test('a union names its discriminator', () => {
    expect(definition('core.v1.SeccompProfile')['x-kubernetes-unions']).toEqual([
      { discriminator: 'type', 'fields-to-discriminateBy': { localhostProfile: 'LocalhostProfile' } },
    ])
  })
})

test('TODAY: lists have sendInitialEvents from 1.27 and shardSelector from 1.36 on, and OpenAPI 2 no defaults', () => {
  const listAt = (minor: number) => {
    const { paths } = runAtOnce(
      openApi3DocumentInSteps(createCatalogue('kubernetes', { minor }), { name: 'api/v1', serverVersion: '', ...issuing }),
    )
    return (at(paths, '/api/v1/pods', 'parameters') as { name: string }[]).map(({ name }) => name)
  }
  const later = ['sendInitialEvents', 'shardSelector']
  const shown = [26, 27, 35, 36].map((minor) => listAt(minor).filter((name) => later.includes(name)))
  expect(shown).toEqual([[], later.slice(0, 1), later.slice(0, 1), later])
  expect(JSON.stringify(document2.definitions)).not.toMatch(/"default":(?!\{)/)
})

test('OpenAPI 3 wraps a reference with siblings, and states implicit defaults', () => {
  const pod = schemas3['io.orch.api.core.v1.Pod']
  expect(at(pod, 'properties', 'spec')).toMatchObject({
    allOf: [{ $ref: '#/components/schemas/io.orch.api.core.v1.PodSpec' }],
    default: {},
  })
  expect(at(schemas3['io.orch.api.core.v1.Container'], 'properties', 'name')).toMatchObject({ type: 'string', default: '' })
  expect(at(schemas3['io.orch.api.core.v1.ContainerPort'], 'properties', 'protocol')).toMatchObject({ default: 'TCP' })
})

test('ADDR-18: a kind that every group version has lists all group versions up to 1.35, and from 1.36 only the group versions of the document', () => {
  const listed = (minor: number, type: string) => {
    const of = createCatalogue('orch', { minor })
    const { components } = runAtOnce(openApi3DocumentInSteps(of, { name: 'apis/apps/v1', serverVersion: '', ...issuing }))
    const schema = at(components, 'schemas', `io.orch.apimachinery.pkg.apis.meta.v1.${type}`)
    return (at(schema, 'x-kubernetes-group-version-kind') as Json[]).map(({ group, version }) => `${group}/${version}`)
  }
  for (const type of ['DeleteOptions', 'WatchEvent']) {
    expect(listed(35, type)).toEqual(expect.arrayContaining(['/v1', 'apps/v1', 'batch/v1']))
    expect(listed(36, type)).toEqual(['/v1', 'apps/v1'])
  }
})

describe('operations', () => {
  const written = (...path: string[]) => at(document2.paths, ...path, 'parameters') as Json[]
  /** The resolved parameters, some of which the document shares. */
  const parametersAt = (...path: string[]): Json[] =>
    written(...path).map((one) =>
      one['$ref'] === undefined ? one : document2.parameters[String(one['$ref']).replace('#/parameters/', '')]!,
    )
  const names = (...path: string[]): string[] =>
    parametersAt(...path)
      .map(({ name }) => String(name))
      .sort()
  const nodes = '/api/v1/nodes'
  const node = `${nodes}/{name}`

  test('EP-15: a list has its parameters', () => {
    expect(names(nodes, 'get')).toEqual([
      'allowWatchBookmarks',
      'continue',
      'fieldSelector',
      'labelSelector',
      'limit',
      'resourceVersion',
      'resourceVersionMatch',
      'timeoutSeconds',
      'watch',
    ])
  })

  test('EP-17, EP-19: a write has its parameters', () => {
    const expected = ['body', 'dryRun', 'fieldManager', 'fieldValidation']
    expect([names(nodes, 'post'), names(node, 'put')]).toEqual([expected, expected])
  })

  test('EP-21: a patch has its parameters', () => {
    expect(names(node, 'patch')).toEqual(['body', 'dryRun', 'fieldManager', 'fieldValidation', 'force'])
  })

  test('parameters of many operations are defined once, except those of patches, which kubectl before 1.28 reads in place', () => {
    const referred = [...JSON.stringify(document2.paths).matchAll(/"#\/parameters\/([^"]+)"/g)].map((match) => match[1]!)
    expect(new Set(referred)).toEqual(new Set(Object.keys(document2.parameters)))
    expect(document2.parameters['limit']).toMatchObject({ name: 'limit', in: 'query', type: 'integer' })
    const ofDryRun = ['dryRun', 'dryRunOfDelete'].map((name) => document2.parameters[name])
    expect(ofDryRun.map((one) => [one?.['name'], one?.['description']])).toEqual([
      ['dryRun', 'With All, everything is checked and nothing is stored.'],
      ['dryRun', 'With All, everything is checked and nothing is deleted.'],
    ])
    const [body, ...others] = written(node, 'patch')
    expect([body?.['name'], ...others.map(({ name }) => name)]).toEqual(['body', 'dryRun', 'fieldManager', 'fieldValidation', 'force'])
    expect(written(nodes, 'post').slice(1)).toEqual(
      ['dryRun', 'fieldManager', 'fieldValidation'].map((name) => ({ $ref: `#/parameters/${name}` })),
    )
  })

  test('EP-23: a delete has its parameters', () => {
    expect(names(node, 'delete')).toEqual(['body', 'dryRun', 'gracePeriodSeconds', 'orphanDependents', 'propagationPolicy'])
  })

  test('EP-26: a delete of a collection has its parameters', () => {
    expect(names(nodes, 'delete')).toContain('resourceVersionMatch')
    expect(names(nodes, 'delete')).toContain('propagationPolicy')
  })

  test('EP-24, EP-25: a delete has its documented answer', () => {
    const answer = (path: string): unknown => at(document2.paths, path, 'delete', 'responses', '200', 'schema', '$ref')
    expect(answer('/apis/storage.orch.io/v1/csinodes/{name}')).toBe('#/definitions/io.orch.api.storage.v1.CSINode')
    expect(answer(node)).toBe('#/definitions/io.orch.apimachinery.pkg.apis.meta.v1.Status')
  })

  test('EP-02, EP-30: a kind without a status has no status path', () => {
    expect(Object.keys(document2.paths)).not.toContain('/apis/storage.orch.io/v1/csinodes/{name}/status')
    expect(Object.keys(document2.paths)).toContain(`${node}/status`)
  })

  test('EP-32, EP-33: paths have parameters, and lists over all namespaces exist', () => {
    const item = parametersAt('/api/v1/namespaces/{namespace}/resourcequotas/{name}')
    expect(item.filter((parameter) => parameter['required']).map(({ name }) => name)).toEqual(['name', 'namespace'])
    expect(Object.keys(document2.paths['/api/v1/resourcequotas'] ?? {})).toEqual(['get', 'parameters'])
  })

  test('watchable resources have the older watch paths', () => {
    const actions = (path: string) => [
      at(document2.paths, path, 'get', 'operationId'),
      at(document2.paths, path, 'get', 'x-kubernetes-action'),
    ]
    expect(actions('/api/v1/watch/pods')).toEqual(['watchCoreV1PodListForAllNamespaces', 'watchlist'])
    expect(actions('/api/v1/watch/namespaces/{namespace}/pods')).toEqual(['watchCoreV1NamespacedPodList', 'watchlist'])
    expect(actions('/api/v1/watch/namespaces/{namespace}/pods/{name}')).toEqual(['watchCoreV1NamespacedPod', 'watch'])
    expect(actions('/api/v1/watch/nodes')).toEqual(['watchCoreV1NodeList', 'watchlist'])
    expect(Object.keys(document2.paths)).not.toContain('/api/v1/watch/componentstatuses')
  })

  test('no two operations share an id', () => {
    const ids = [...JSON.stringify(document2.paths).matchAll(/"operationId":"([^"]+)"/g)].map((match) => match[1])
    expect(new Set(ids).size).toBe(ids.length)
  })

  test('an operation names its action and its kind', () => {
    expect(at(core3.paths, nodes, 'get')).toMatchObject({
      operationId: 'listCoreV1Node',
      'x-kubernetes-action': 'list',
      'x-kubernetes-group-version-kind': { group: '', version: 'v1', kind: 'Node' },
    })
  })
})

test('the Protobuf form begins with the version and contains every path and definition', () => {
  const bytes = encodeOpenApi2(document2)
  const text = new TextDecoder().decode(bytes)
  expect([...bytes.slice(0, 5)]).toEqual([0x0a, 3, ...new TextEncoder().encode('2.0')])
  const missing = [...Object.keys(document2.paths), ...Object.keys(document2.definitions)].filter((name) => !text.includes(name))
  expect(missing).toEqual([])
})

test('the Protobuf form of a small document is equal byte by byte', () => {
  const small = {
    swagger: '2.0',
    info: { title: 't', version: 'v' },
    paths: { '/p': { parameters: [{ $ref: '#/P' }] } },
    definitions: { A: { type: 'string' } },
    parameters: { P: { in: 'query', name: 'p', type: 'string' } },
    securityDefinitions: {},
    security: [],
  } as const
  const bytes = [...encodeOpenApi2(small)]
  const text = (value: string) => [value.length, ...new TextEncoder().encode(value)]
  const message = (field: number, content: readonly number[]) => [(field << 3) | 2, content.length, ...content]
  const path = message(2, [0x0a, ...text('/p'), ...message(2, message(9, message(2, [0x0a, ...text('#/P')])))])
  const plain = [0x12, ...text('query'), 0x22, ...text('p'), 0x32, ...text('string')]
  const parameter = message(1, [0x0a, ...text('P'), ...message(2, message(2, message(3, plain)))])
  const info = [0x12, 6, 0x0a, 1, 116, 0x12, 1, 118]
  const schema = [0xb2, 0x01, 8, 0x0a, 6, ...new TextEncoder().encode('string')]
  const definition = [0x0a, 1, 65, 0x12, schema.length, ...schema]
  expect(bytes).toEqual([
    0x0a,
    3,
    50,
    46,
    48,
    ...info,
    ...message(8, path),
    0x4a,
    definition.length + 2,
    0x0a,
    definition.length,
    ...definition,
    ...message(10, parameter),
    0x6a,
    0,
  ])
})

test('the Protobuf form of OpenAPI 3 is equal byte by byte', () => {
  const schema = { type: 'object', maxLength: 300, maximum: 1.5, nullable: true, default: 'd', additionalProperties: true, 'x-a': 1 }
  const small = {
    openapi: '3.0.0',
    info: { title: 't', version: 'v' },
    paths: { '/p': { get: { tags: ['g'], responses: { 200: { description: 'o', content: { j: { schema: { $ref: '#/A' } } } } } } } },
    components: { schemas: { A: schema } },
    security: [{ B: [] }],
  }
  const text = (field: number, value: string) => message(field, [...new TextEncoder().encode(value)])
  const tag = (field: number, wire: number) => (field < 16 ? [(field << 3) | wire] : [(((field << 3) | wire) & 0x7f) | 0x80, field >> 4])
  const message = (field: number, ...contents: (readonly number[])[]) => {
    const content = contents.flat()
    return [...tag(field, 2), content.length, ...content]
  }
  const media = message(1, text(1, 'j'), message(2, message(1, message(2, text(1, '#/A')))))
  const response = message(2, text(1, '200'), message(2, message(1, text(1, 'o'), message(3, media))))
  const operation = message(4, text(1, 'g'), message(8, response))
  const described = [
    ...[...tag(1, 0), 1],
    ...[...tag(11, 1), 0, 0, 0, 0, 0, 0, 0xf8, 0x3f],
    ...[...tag(15, 0), 0xac, 2],
    ...text(25, 'object'),
    ...message(32, [...tag(2, 0), 1]),
    ...message(33, text(3, 'd')),
    ...message(36, text(1, 'x-a'), message(2, text(2, '1\n'))),
  ]
  expect([...runAtOnce(encodeOpenApi3InSteps(small))]).toEqual([
    ...text(1, '3.0.0'),
    ...message(2, text(1, 't'), text(6, 'v')),
    ...message(4, message(1, text(1, '/p'), message(2, operation))),
    ...message(5, message(1, message(1, text(1, 'A'), message(2, message(1, described))))),
    ...message(6, message(1, text(1, 'B'), message(2))),
  ])
})

test('the Protobuf form of OpenAPI 3 contains every path and schema of any document', () => {
  for (const name of openApi3Names(catalogue, issuing)) {
    const document = document3(name)
    const bytes = Buffer.from(runAtOnce(encodeOpenApi3InSteps({ ...document }))).toString('latin1')
    const { schemas = {} } = document.components as { schemas?: Record<string, unknown> }
    for (const one of [...Object.keys(document.paths), ...Object.keys(schemas)]) expect(bytes).toContain(one)
  }
})

test('the Protobuf forms of paths and definitions equal their parts of a whole document', () => {
  const [paths, definitions] = [runAtOnce(encodePathsInSteps(document2.paths)), runAtOnce(encodeDefinitionsInSteps(document2.definitions))]
  const whole = Buffer.from(encodeOpenApi2(document2))
  const at = whole.indexOf(paths)
  expect(at).toBeGreaterThan(0)
  expect(whole.subarray(at + paths.length).indexOf(definitions)).toBe(0)
  expect(runAtOnce(encodePathsInSteps({}))).toHaveLength(0)
})

test.each(['properties', 'items', 'additionalProperties', 'allOf', 'not'])(
  'the Protobuf forms of a schema have as many levels of %s as a definition may have',
  (member) => {
    const wrap = (inner: Schema) => (member === 'properties' ? { a: inner } : member === 'allOf' ? [inner] : inner)
    let schema: Schema = { description: 'innermost' }
    for (let depth = 0; depth < structDepthMax; depth++) schema = { [member]: wrap(schema) }
    const bytes = runAtOnce(encodeOpenApi3InSteps({ components: { schemas: { A: schema } } }))
    expect(Buffer.from(bytes).toString('latin1')).toContain('innermost')
    if (member === 'allOf' || member === 'not') return
    const definitions = runAtOnce(encodeDefinitionsInSteps({ A: schema }))
    expect(Buffer.from(definitions).toString('latin1')).toContain('innermost')
  },
)

test('long strings, and strings beyond ASCII, are UTF-8 in the Protobuf form', () => {
  const description = 'größe '.repeat(20_000)
  const definitions = runAtOnce(encodeDefinitionsInSteps({ A: { description, enum: ['ä'] } }))
  expect(Buffer.from(definitions).includes(Buffer.from(description))).toBe(true)
  expect(Buffer.from(definitions).includes(Buffer.from('"ä"'))).toBe(true)
})

test('definitions of another document are removed, with the definitions that only they refer to', () => {
  const made = (known: Record<string, Json>) =>
    Object.keys(runAtOnce(openApi2DocumentInSteps(catalogue, 'v', { ...issuing, beside: { paths: {}, definitions: known } })).definitions)
  const refersToNothing = Object.entries(document2.definitions).find(([, schema]) => !JSON.stringify(schema).includes('$ref'))?.[0] ?? ''
  const all = Object.keys(document2.definitions)
  expect(made({})).toEqual(all)
  expect(made({ [refersToNothing]: {} })).toEqual(all.filter((name) => name !== refersToNothing))
  const pod = all.find((name) => name.endsWith('.core.v1.Pod')) ?? ''
  const withoutPods = made({ [pod]: {} })
  expect(withoutPods).not.toContain(pod)
  expect(withoutPods).toContain(`${pod}List`)
})

test('paths of another document are removed, and no other paths', () => {
  const all = Object.keys(document2.paths)
  const known = { '/apis/': {}, '/api/v1/pods': {}, '/nowhere': {} }
  const { paths } = runAtOnce(openApi2PartInSteps(catalogue, { ...issuing, beside: { paths: known, definitions: {} } }))
  expect(Object.keys(paths)).toEqual(all.filter((path) => !Object.hasOwn(known, path)))
  expect(all.length - Object.keys(paths).length).toBe(2)
})

test.each([1, 2, 3])('a document is printed like by JSON.stringify, with parts deeper than %i in one step', (depth) => {
  const value = { a: { b: { c: { d: [1, { e: null }] } }, none: undefined, empty: {} }, 'a "name"': 'text', list: [{}], zero: 0 }
  expect(runAtOnce(printOpenApiInSteps(value, depth))).toBe(JSON.stringify(value))
  const large = { many: Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`m${index}`, 'x'.repeat(10_000)])) }
  const steps = [...printOpenApiInSteps(large, 2)]
  expect(steps.length).toBeGreaterThan(2)
  expect(runAtOnce(printOpenApiInSteps(large, 2))).toBe(JSON.stringify(large))
})

test.each([
  [28, undefined],
  [29, true],
])('ADDR-18: at 1.%d bodies of requests are marked as required: %s', (minor, required) => {
  const catalogue = createCatalogue('kubernetes', { minor })
  const document = (name: string) => runAtOnce(openApi3DocumentInSteps(catalogue, { name, serverVersion: '', hasIssuer: true }))
  const reviews = document('apis/authentication.k8s.io/v1')
  const review = at(reviews.paths['/apis/authentication.k8s.io/v1/tokenreviews'], 'post', 'requestBody')
  expect(review).toMatchObject({ content: {} })
  expect(at(review, 'required')).toBe(required)
  expect(Object.keys(at(reviews.components, 'schemas') as object)).not.toContain('io.k8s.apimachinery.pkg.apis.meta.v1.WatchEvent')
  const forward = at(document('api/v1').paths['/api/v1/namespaces/{namespace}/pods/{name}/portforward'], 'parameters')
  expect(forward).toContainEqual(expect.objectContaining({ name: 'ports', schema: { type: 'integer', uniqueItems: true } }))
})
