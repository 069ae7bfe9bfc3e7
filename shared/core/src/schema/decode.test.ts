import { describe, expect, test } from 'vitest'
import { structDepthMax } from '../description/node.ts'
import { decodeFailureText, decoderOf, isSharedPart, sharedPart, strictFailureText, unknownFieldText } from './decode.ts'

const track = { trackUnknown: true }
const decode = (type: string, value: unknown) => {
  const result = decoderOf(type)(value, track)
  if (result.kind !== 'decoded') throw new Error(result.message)
  return result
}
const mismatch = (type: string, value: unknown) => {
  const result = decoderOf(type)(value, track)
  return result.kind === 'mismatch' ? result.message : undefined
}

const wrongTypes: readonly (readonly [string, unknown, string])[] = [
  ['VAL-01: text in a numeric field', { spec: { replicas: 'three' } }, 'spec.replicas: expected integer, got string'],
  ['VAL-01: a number in a text field', { metadata: { name: 7 } }, 'metadata.name: expected string, got number'],
  ['VAL-01: a fraction in an integer field', { spec: { replicas: 1.5 } }, 'spec.replicas: expected integer, got number 1.5'],
  [
    'VAL-01: an integer beyond 32 bits',
    { spec: { replicas: 3_000_000_000 } },
    'spec.replicas: expected 32-bit integer, got number 3000000000',
  ],
  ['VAL-01: text where a label map is wanted', { metadata: { labels: 'a=b' } }, 'metadata.labels: expected object, got string'],
  ['VAL-01: a label that is not text', { metadata: { labels: { a: true } } }, 'metadata.labels.a: expected string, got boolean'],
  ['VAL-02: an object in a list field', { status: { conditions: {} } }, 'status.conditions: expected array, got object'],
  ['VAL-02: a list in an object field', { spec: [] }, 'spec: expected object, got array'],
]

test.each(wrongTypes)('%s is refused with its path', (_, body, message) => {
  expect(mismatch('core/v1.ReplicationController', body)).toBe(message)
})

test.each([
  ['a number for a text in a map', 'core/v1.ConfigMap', { data: { a: 5 } }, 'number into Go struct field ConfigMap.data of type string'],
  [
    'a text for a list',
    'core/v1.ServiceAccount',
    { secrets: 'x' },
    'string into Go struct field ServiceAccount.secrets of type []v1.ObjectReference',
  ],
  [
    'a text for a number',
    'apps/v1.Deployment',
    { spec: { replicas: 'x' } },
    'string into Go struct field DeploymentSpec.spec.replicas of type int32',
  ],
  [
    'a fraction deep in lists',
    'core/v1.Pod',
    { spec: { containers: [{ ports: [{ containerPort: 1.5 }] }] } },
    'number 1.5 into Go struct field ContainerPort.spec.containers.ports.containerPort of type int32',
  ],
  ['a list for a struct', 'core/v1.Pod', { spec: [] }, 'array into Go struct field Pod.spec of type v1.PodSpec'],
  ['a text for a truth value', 'core/v1.Secret', { immutable: 'yes' }, 'string into Go struct field Secret.immutable of type bool'],
  [
    'a text for labels',
    'core/v1.Pod',
    { metadata: { labels: 'a=b' } },
    'string into Go struct field ObjectMeta.metadata.labels of type map[string]string',
  ],
])('VAL-01: error messages equal those of kube-apiserver: %s', (_, type, body, text) => {
  const result = decoderOf(type)(body, track)
  expect(result.kind === 'mismatch' && result.text).toBe(`json: cannot unmarshal ${text}`)
})

test.each([
  ['***', 0],
  ['YQ=!', 3],
  ['YWJjYQ', 4],
])('VAL-01: %j is valid base64 up to byte %d', (text, at) => {
  const result = decoderOf('core/v1.Secret')({ data: { a: text } }, track)
  expect(result.kind === 'mismatch' && result.text).toBe(`illegal base64 data at input byte ${at}`)
})

test('a type that parses itself is looked for behind 1,000 wrong types at most', () => {
  const object = (count: number) => ({
    metadata: { labels: Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, index])), creationTimestamp: 'x' },
  })
  expect(mismatch('apps/v1.Deployment', object(999))).toContain('metadata.creationTimestamp')
  expect(mismatch('apps/v1.Deployment', object(1_000))).toContain('metadata.labels.k0')
})

test('VAL-01: a value deep in a list is reported with its index', () => {
  const body = { spec: { containers: [{ name: 'a' }, { name: 'b', ports: [{ containerPort: '80' }] }] } }
  expect(mismatch('core/v1.Pod', body)).toBe('spec.containers[1].ports[0].containerPort: expected integer, got string')
})

test('the message about a refused body has its kind and version', () => {
  expect(decodeFailureText('Pod', 'v1', { textWithoutPath: 'spec: expected object, got array' })).toBe(
    'Pod in version "v1" cannot be handled as a Pod: spec: expected object, got array',
  )
  expect(strictFailureText('Pod', 'v1', [unknownFieldText('bogus'), unknownFieldText('spec.zzz')])).toBe(
    'Pod in version "v1" cannot be handled as a Pod: strict decoding error: unknown field "bogus", unknown field "spec.zzz"',
  )
})

test('VAL-05: unknown fields are dropped', () => {
  const { object } = decode('core/v1.ConfigMap', {
    kind: 'ConfigMap',
    apiVersion: 'v1',
    bogus: 1,
    metadata: { name: 'a', zzz: {} },
    data: { bogus: 'kept' },
  })
  expect(object).toEqual({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a', creationTimestamp: null }, data: { bogus: 'kept' } })
})

test('VAL-13: every unknown field is reported with its path', () => {
  const body = { foo: 1, spec: { zzz: 1, containers: [{ name: 'a', bar: {} }] } }
  expect(decode('core/v1.Pod', body).unknownFields).toEqual(['foo', 'spec.zzz', 'spec.containers[0].bar'])
})

test('VAL-04: field names are case-sensitive', () => {
  expect(decode('core/v1.Pod', { spec: { NodeName: 'n' } }).unknownFields).toEqual(['spec.NodeName'])
})

test('unknown fields are not reported unless requested', () => {
  expect(decoderOf('core/v1.Pod')({ foo: 1 }, { trackUnknown: false })).toMatchObject({ kind: 'decoded', unknownFields: [] })
})

test('fields are in the order of the type, and empty fields follow the type', () => {
  const { object } = decode('core/v1.PersistentVolumeClaim', {
    spec: { volumeName: '', accessModes: [] },
    metadata: { labels: {}, name: 'a' },
    kind: 'K',
  })
  expect(JSON.stringify(object)).toBe('{"kind":"K","metadata":{"name":"a","creationTimestamp":null},"spec":{"resources":{}},"status":{}}')
})

test('KIND-RC-07: a pointer distinguishes zero and absent', () => {
  expect(decode('core/v1.ReplicationController', { spec: { replicas: 0 } }).object['spec']).toEqual({ replicas: 0 })
  expect(decode('core/v1.ReplicationController', { spec: { replicas: null } }).object['spec']).toEqual({})
})

test('KIND-NODE-33: image sizes beyond 2^53 stay exact', () => {
  const { object } = decode('core/v1.Node', { status: { images: [{ names: ['a'], sizeBytes: 9_007_199_254_740_993n }] } })
  expect(object['status']).toMatchObject({ images: [{ names: ['a'], sizeBytes: 9_007_199_254_740_993n }] })
  expect(mismatch('core/v1.Node', { status: { images: [{ sizeBytes: 2n ** 63n }] } })).toContain('expected 64-bit integer')
})

test('KIND-GEN-02: quantities are printed in canonical form', () => {
  const { object } = decode('core/v1.ResourceQuota', { spec: { hard: { cpu: '1000m', memory: '1024Mi', pods: 10 } } })
  expect(object['spec']).toEqual({ hard: { cpu: '1', memory: '1Gi', pods: '10' } })
})

const times: readonly (readonly [string, string | undefined])[] = [
  ['2024-02-29T12:00:00Z', '2024-02-29T12:00:00Z'],
  ['2024-02-30T12:00:00Z', undefined],
  ['2024-01-30T12:00:00Z', '2024-01-30T12:00:00Z'],
  ['2024-12-31T12:00:00Z', '2024-12-31T12:00:00Z'],
  ['2024-11-31T12:00:00Z', undefined],
  ['2024-03-01T01:30:00+02:00', '2024-02-29T23:30:00Z'],
  ['2024-03-01T01:30:00.987Z', '2024-03-01T01:30:00Z'],
  ['2023-02-29T12:00:00Z', undefined],
  ['yesterday', undefined],
  ['', undefined],
]

test.each(times)('KIND-GEN-03: the time %s becomes %s', (given, expected) => {
  const result = decoderOf('core/v1.Node')({ metadata: { deletionTimestamp: given } }, track)
  const printed = result.kind === 'decoded' ? (result.object['metadata'] as Record<string, unknown>)['deletionTimestamp'] : undefined
  expect(printed).toBe(expected)
})

test('bytes must be base64', () => {
  expect(decode('core/v1.Secret', { data: { a: 'aGk=' } }).object['data']).toEqual({ a: 'aGk=' })
  expect(mismatch('core/v1.Secret', { data: { a: 'a' } })).toBe('data.a: expected base64 string, got illegal base64 data')
})

test('a port may be a number or a name', () => {
  const ports = (targetPort: unknown) => ({ spec: { ports: [{ port: 1, targetPort }] } })
  expect(decode('core/v1.Service', ports('http')).object).toMatchObject(ports('http'))
  expect(decode('core/v1.Service', ports(80)).object).toMatchObject(ports(80))
  expect(mismatch('core/v1.Service', ports(true))).toBe('spec.ports[0].targetPort: expected integer or string, got boolean')
})

test('a key named __proto__ is data and does not change a prototype', () => {
  const body = JSON.parse('{"metadata":{"labels":{"__proto__":null,"a":"b"}},"data":{"__proto__":"x"}}')
  const { object } = decode('core/v1.ConfigMap', body)
  expect(JSON.stringify(object['data'])).toBe('{"__proto__":"x"}')
  expect(Object.getPrototypeOf(object['data'])).toBe(Object.prototype)
  expect(({} as Record<string, unknown>)['x']).toBeUndefined()
})

test('a recursive type is decoded at any depth', () => {
  const schema = { properties: { a: { items: { type: 'string' } }, b: { additionalProperties: false } } }
  const body = { spec: { versions: [{ name: 'v1', schema: { openAPIV3Schema: schema } }] } }
  const { object, unknownFields } = decode('apiextensions/v1.CustomResourceDefinition', body)
  expect(unknownFields).toEqual([])
  expect(object).toMatchObject({ spec: { versions: [{ name: 'v1', schema: { openAPIV3Schema: schema } }] } })
})

test.each(['items', 'additionalItems', 'additionalProperties', 'dependencies'])(
  'VAL-05: unknown fields of a schema are reported, but not in %s, which kube-apiserver reads with its own decoder',
  (name) => {
    const inner = { type: 'string', zzz: 1, anyOf: [{ optional: true }] }
    const schema = { not: inner, [name]: name === 'dependencies' ? { a: inner } : inner }
    expect(decode('apiextensions/v1.JSONSchemaProps', schema).unknownFields).toEqual(['not.zzz', 'not.anyOf[0].optional'])
    if (name === 'items') expect(decode('apiextensions/v1.JSONSchemaProps', { items: [inner] }).unknownFields).toEqual([])
  },
)

test.each(['additionalItems', 'additionalProperties'])('VAL-02: %s is a boolean or a schema', (name) => {
  for (const value of ['x', 1, []]) {
    const text = 'boolean or JSON schema expected'
    const read = decoderOf('apiextensions/v1.JSONSchemaProps')({ type: 1, [name]: value }, track)
    expect(read).toMatchObject({ kind: 'mismatch', message: `${name}: ${text}`, textWithoutPath: text, restoreText: text })
  }
})

test('the keys of a map are sorted', () => {
  const { object } = decode('core/v1.ConfigMap', { metadata: { labels: { b: '1', a: '2' } }, data: { z: '1', 'a-b': '2', a: '3' } })
  expect(JSON.stringify(object)).toContain('"labels":{"a":"2","b":"1"}')
  expect(JSON.stringify(object)).toContain('"data":{"a":"3","a-b":"2","z":"1"}')
})

const nestedSchema = (depth: number) => JSON.parse(`${'{"not":'.repeat(depth)}{"type":"string"}${'}'.repeat(depth)}`) as unknown

test('a recursive type is decoded to a bounded depth, and refused with the path below it', () => {
  expect(decode('apiextensions/v1.JSONSchemaProps', nestedSchema(structDepthMax - 1)).object).toEqual(nestedSchema(structDepthMax - 1))
  const path = Array(structDepthMax).fill('not').join('.')
  expect(mismatch('apiextensions/v1.JSONSchemaProps', nestedSchema(9000))).toBe(`${path}: nested deeper than ${structDepthMax} levels`)
})

test('a raw value may have any depth that can be parsed', () => {
  const deep = JSON.parse('['.repeat(9000) + ']'.repeat(9000)) as unknown
  const { object } = decode('apps/v1.ControllerRevision', { metadata: { name: 'a' }, data: deep })
  expect(object.data).toBe(deep)
})

test('a shared part is sorted once, is frozen, and is reused afterwards', () => {
  const part = sharedPart('core/v1.Toleration', { effect: 'NoExecute', key: 'gone' })
  expect(JSON.stringify(part)).toBe('{"key":"gone","effect":"NoExecute"}')
  const { object } = decode('core/v1.PodSpec', { tolerations: [part, { ...part }], containers: [] })
  const [first, second] = object['tolerations'] as object[]
  expect(first).toBe(part)
  expect(second).toEqual(part)
  expect([part, { ...part }].map(isSharedPart)).toEqual([true, false])
  expect(() => Object.assign(part, { key: 'other' })).toThrow(TypeError)
})

test('the contents of a shared part are frozen too', () => {
  const part = sharedPart('core/v1.ProjectedVolumeSource', { sources: [{ serviceAccountToken: { path: 'token' } }] })
  expect(() => (part['sources'] as object[]).push({})).toThrow(TypeError)
})

test('a shared part in the place of another type is decoded as that type', () => {
  const part = sharedPart('core/v1.ConfigMapKeySelector', { key: 'a', name: 'b' })
  const { object } = decode('core/v1.EnvVarSource', { secretKeyRef: part })
  expect(object['secretKeyRef']).not.toBe(part)
  expect(decode('core/v1.Toleration', part).unknownFields).toEqual(['name'])
})

test('a shared part of a wrong type is refused', () => {
  expect(() => sharedPart('core/v1.Toleration', { key: 1 })).toThrow('core/v1.Toleration: key: expected string, got number')
  expect(() => sharedPart('core/v1.Toleration', { bogus: 1 })).toThrow('unknown field "bogus"')
})

test('fields are in the order of the type for any input order', () => {
  const fields = { image: 'i', name: 'n', imagePullPolicy: 'Always', command: ['c'], tty: true, workingDir: '/' }
  const names = Object.keys(fields)
  const inOrder = JSON.stringify(decode('core/v1.Container', fields).object)
  expect(inOrder).toMatch(
    /^\{"name":"n","image":"i","command":\["c"\],"workingDir":"\/","resources":\{\},"imagePullPolicy":"Always","tty":true\}$/,
  )
  for (let turn = 1; turn < names.length; turn++) {
    const turned = [...names.slice(turn), ...names.slice(0, turn)].map((name) => [name, fields[name as keyof typeof fields]])
    for (const order of [turned, turned.toReversed()]) {
      expect(JSON.stringify(decode('core/v1.Container', Object.fromEntries(order)).object)).toBe(inOrder)
    }
  }
})

test('a part equal to the earlier one is shared with it, and no other part is', () => {
  const read = decoderOf('core/v1.Pod')
  const whole = (value: object, known?: object): object => {
    const outcome = read(value, { trackUnknown: true, known })
    return outcome.kind === 'decoded' ? outcome.object : {}
  }
  const body = (image: string) => ({
    metadata: { name: 'a', labels: { a: '1', b: '2' }, managedFields: [{ manager: 'm', fieldsV1: { 'f:spec': { 'f:x': {} } } }] },
    spec: {
      nodeSelector: { a: 'b' },
      containers: [
        { name: 'c', image, args: ['x', 'y'] },
        { name: 'd', image: 'z' },
      ],
    },
  })
  const known = whole(body('i'))
  const text = JSON.stringify(known)
  expect(whole(structuredClone(known), known)).toBe(known)
  const other = whole(body('j'), known)
  expect(other).toEqual(whole(body('j')))
  const shared = ['metadata', 'spec.nodeSelector', 'spec.containers.0.args', 'spec.containers.0.image', 'spec.containers.0']
  const isShared = (path: string): boolean => path.split('.').reduce(memberAt, other) === path.split('.').reduce(memberAt, known)
  expect(shared.map(isShared)).toEqual([true, true, true, false, false])
  const fewer = { ...body('i'), spec: { containers: [{ name: 'c', image: 'i', args: ['x'] }] } }
  expect(whole(fewer, known)).toEqual(whole(fewer))
  const labelled = { ...body('i'), metadata: { name: 'a', labels: { a: '1', c: '2' } } }
  expect(whole(labelled, known)).toEqual(whole(labelled))
  expect(JSON.stringify(known)).toBe(text)
})

function memberAt(value: object, key: string): object {
  return Reflect.get(value, key)
}

describe('a map', () => {
  const read = (type: Parameters<typeof decoderOf>[0], value: object, known?: object) => {
    const result = decoderOf(type)(value, { trackUnknown: false, known })
    if (result.kind !== 'decoded') throw new Error(result.message)
    return result.object
  }

  test('is left out if it is empty, after any earlier values', () => {
    expect(read('meta/v1.ObjectMeta', { labels: { a: 'b' }, annotations: {} })).toEqual({ creationTimestamp: null, labels: { a: 'b' } })
    expect(read('meta/v1.ObjectMeta', { labels: {}, annotations: { a: 'b' } })).toEqual({
      creationTimestamp: null,
      annotations: { a: 'b' },
    })
    const schema = { properties: { a: { properties: {} }, b: { properties: { c: {} } } } }
    expect(read('apiextensions/v1.JSONSchemaProps', schema)).toEqual({ properties: { a: {}, b: { properties: { c: {} } } } })
    expect(read('apiextensions/v1.JSONSchemaProps', { properties: { a: { properties: {} } } })).toEqual({ properties: { a: {} } })
  })

  test('that existed before is kept, also after an empty one', () => {
    const known = read('meta/v1.ObjectMeta', { labels: { a: 'b' }, annotations: { c: 'd' } })
    const { annotations } = known as { readonly annotations: object }
    expect(read('meta/v1.ObjectMeta', { labels: {}, annotations }, known)).toEqual({ creationTimestamp: null, annotations: { c: 'd' } })
  })

  test('has sorted keys, each with its own value', () => {
    const properties = { b: { type: 'string' }, a: { nullable: false, type: 'integer' }, c: {} }
    const object = read('apiextensions/v1.JSONSchemaProps', { properties })
    expect(JSON.stringify(object)).toBe('{"properties":{"a":{"type":"integer"},"b":{"type":"string"},"c":{}}}')
  })
})

describe('a value that may be shared', () => {
  const shared = (value: object) => {
    const result = decoderOf('core/v1.PodSpec')(value, { trackUnknown: false, sharesAll: true })
    if (result.kind !== 'decoded') throw new Error(result.message)
    return result.object
  }
  const container = () => ({ name: 'c', env: [{ name: 'A', value: '1' }], resources: {} })

  test('is used itself if decoding changes nothing in it', () => {
    const spec = { containers: [container()], nodeName: 'n' }
    expect(shared(spec)).toBe(spec)
  })

  test.each([
    ['members in another order', { env: [{ value: '1', name: 'A' }] }, { env: [{ name: 'A', value: '1' }] }],
    ['a member that the type does not have', { env: [{ name: 'A', more: 1 }] }, { env: [{ name: 'A' }] }],
    ['a member without a value', { env: [{ name: 'A', value: undefined }] }, { env: [{ name: 'A' }] }],
    ['a member that is null', { env: [{ name: 'A', value: null }] }, { env: [{ name: 'A' }] }],
    ['an empty member that is not printed', { env: [{ name: 'A', value: '' }] }, { env: [{ name: 'A' }] }],
    ['an item that is null', { env: [null] }, { env: [{ name: '' }] }],
    ['an amount in another form', { resources: { limits: { cpu: '1000m' } } }, { resources: { limits: { cpu: '1' } } }],
  ])('is copied as far as it contains %s, and stays unchanged', (_, given, read) => {
    const first = container()
    const spec = { containers: [first, { ...container(), ...given }], nodeName: 'n' }
    const before = structuredClone(spec)
    const result = shared(spec)
    expect(JSON.stringify(result)).toBe(JSON.stringify({ containers: [first, { ...container(), ...read }], nodeName: 'n' }))
    expect(result.containers?.[0]).toBe(first)
    expect(spec).toStrictEqual(before)
  })

  test('is copied if a field that is always printed is missing', () => {
    const { resources: _, ...rest } = container()
    expect(shared({ containers: [rest] })).toEqual({ containers: [container()] })
  })

  test('is not shared unless that is allowed', () => {
    const spec = { containers: [container()] }
    const { object } = decode('core/v1.PodSpec', spec)
    expect(object).toEqual(spec)
    expect(object).not.toBe(spec)
  })
})
