import { createCatalogue } from '@orch/core/catalogue'
import { definitionAttacks } from './definitions.ts'
import { ruleAttacks } from './hostile-rules.ts'
import { nodeAttacks } from './nodes.ts'

/** One request. */
export interface Heavy {
  readonly method: string
  readonly path: string
  readonly body?: string
  readonly type?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** The answer. */
export interface Answered {
  readonly code: number
  readonly bytes: number
  /** The beginning of the answer. */
  readonly text: string
}

/** The administrator's TLS credentials. */
export interface Credentials {
  readonly ca: string
  readonly cert: string
  readonly key: string
}

/** Requests that one client may send at any time, each below the size bound of bodies. */
export interface Attack {
  readonly name: string
  /** Requests that prepare the state; they are not measured. */
  readonly before?: () => readonly Heavy[]
  readonly request: () => Heavy
  /** The server may refuse the preparing requests. */
  readonly mayFail?: boolean
  /** The number of concurrent requests; default: one. */
  readonly times?: number
  /** The server logs requests and answers. */
  readonly isAudited?: boolean
  /** The server simulates a node. */
  readonly isOnNode?: boolean
}

const json = (value: unknown): string => JSON.stringify(value)
const keys = <T>(count: number, value: (index: number) => T, front = 'k'): Record<string, T> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`${front}${index}`, value(index)]))
const many = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, index) => make(index))

const core = '/api/v1/namespaces/default'
const maps = `${core}/configmaps`
const pods = `${core}/pods`
const revisions = '/apis/apps/v1/namespaces/default/controllerrevisions'
const merge = 'application/merge-patch+json'
const strategic = 'application/strategic-merge-patch+json'
const jsonPatch = 'application/json-patch+json'
const applied = 'application/apply-patch+yaml'
const yaml = 'application/yaml'

const map = (name: string, data: Record<string, string>, metadata: object = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...metadata },
  data,
})
const post = (path: string, value: unknown): Heavy => ({ method: 'POST', path, body: json(value) })
const container = { name: 'c', image: 'i' }
const pod = (name: string, spec: object, metadata: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, ...metadata },
  spec: { containers: [container], ...spec },
})
const revision = (name: string, data: unknown) => ({
  apiVersion: 'apps/v1',
  kind: 'ControllerRevision',
  metadata: { name },
  revision: 1,
  data,
})
const small = (name: string) => post(maps, map(name, { a: 'b' }))

const wide = keys(45_000, () => 'v')
const changed = keys(45_000, () => 'w')
const fields = { 'f:data': keys(60, () => ({}), 'f:k') }
const entries = (count: number) =>
  many(count, (index) => ({
    manager: `m${index}`,
    operation: 'Update',
    apiVersion: 'v1',
    time: '2024-01-01T00:00:00Z',
    fieldsType: 'FieldsV1',
    fieldsV1: { 'f:data': { [`f:k${index}`]: {} } },
  }))
const rule = (index: number) => ({ verbs: ['get'], apiGroups: [`g${index}`], resources: ['things'] })
const wideNamed = (name: string) => post(maps, map(name, wide))
const put = (path: string, value: unknown): Heavy => ({ method: 'PUT', path, body: json(value) })
const patch = (path: string, type: string, value: unknown): Heavy => ({
  method: 'PATCH',
  path,
  type,
  body: typeof value === 'string' ? value : json(value),
})
const yamlLines = (count: number, line: (index: number) => string) => many(count, line).join('\n')
const yamlMap = (name: string, lines: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\ndata:\n${lines}\n`
const podWith = (name: string, spec: object) => post(pods, pod(name, spec))
const volumes = (count: number) => many(count, (index) => ({ name: `v${index}`, emptyDir: {} }))
const terms = (count: number) => encodeURIComponent(many(count, (index) => `k${index}!=v${index}`).join(','))
const policy = (name: string, ingress: unknown[]) => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: { name },
  spec: { podSelector: {}, ingress },
})
const patches = (count: number) => many(count, (index) => ({ op: 'add', path: `/data/n${index}`, value: 'v' }))

const table = 'application/json;as=Table;v=v1;g=meta.orch.io'
const protobuf = 'application/vnd.orch.protobuf'
const cbor = 'application/cbor'
const secrets = `${core}/secrets`
const yamlOf = (name: string): Heavy => ({
  method: 'POST',
  path: `${maps}?dryRun=All`,
  type: yaml,
  body: yamlMap(
    name,
    yamlLines(60_000, (i) => `  k${i}: v`),
  ),
})
let areSecretsThere = false

/** A list of 5,000 objects of 3 KB in one format. */
function lists(words: string, accept: string, query = ''): Attack[] {
  const secret = (index: number) =>
    post(secrets, { apiVersion: 'v1', kind: 'Secret', metadata: { name: `s${index}` }, stringData: keys(30, () => 'x'.repeat(80)) })
  const before = () => {
    if (areSecretsThere) return []
    areSecretsThere = true
    return many(5_000, secret)
  }
  return [
    {
      name: `list of 5,000 objects, ${words}`,
      before,
      request: () => ({ method: 'GET', path: `${secrets}${query}`, headers: { accept } }),
    },
  ]
}

/** Requests after which the metrics have more than 50,000 series: about a dozen for each verb, resource, scope and dry run. */
function everyVerb(): Heavy[] {
  const catalogue = createCatalogue('orch')
  const groupVersions = [
    { base: '/api/v1', resources: catalogue.inGroupVersion('', 'v1') },
    ...catalogue.groups.flatMap(({ name, versions }) =>
      versions.map((version) => ({ base: `/apis/${name}/${version}`, resources: catalogue.inGroupVersion(name, version) })),
    ),
  ]
  return groupVersions.flatMap(({ base, resources }) =>
    resources.flatMap(({ plural, isNamespaced, subresources }) => {
      const collection = isNamespaced ? `${base}/namespaces/nowhere/${plural}` : `${base}/${plural}`
      const item = `${collection}/nothing`
      const collections = isNamespaced ? [collection, `${base}/${plural}`] : [collection]
      return ['', '?dryRun=All'].flatMap((query) => [
        ...collections.map((path): Heavy => ({ method: 'GET', path: path + query })),
        ...[item, ...subresources.map(({ name }) => `${item}/${name}`)].flatMap((path) =>
          ['GET', 'PUT', 'PATCH', 'POST', 'DELETE'].map((method): Heavy => ({ method, path: path + query })),
        ),
        { method: 'POST', path: collection + query },
      ])
    }),
  )
}

/** Attacks on a server that logs whole requests and answers. */
function audited(): Attack[] {
  const item = (index: number) =>
    post(
      maps,
      map(
        `l${index}`,
        keys(30, () => 'x'.repeat(80)),
      ),
    )
  const attacks: Attack[] = [
    { name: 'audited: ConfigMap of 45,000 keys', request: () => wideNamed('k1') },
    { name: 'audited: 8 of them at once, dry run', request: () => ({ ...wideNamed('k2'), path: `${maps}?dryRun=All` }), times: 8 },
    { name: 'audited: YAML of 60,000 lines', request: () => yamlOf('k3') },
    { name: 'audited: YAML of 3 MB of nothing', request: () => ({ method: 'POST', path: maps, type: yaml, body: '- '.repeat(1_500_000) }) },
    { name: 'audited: list of 2,500 objects', before: () => many(2_500, item), request: () => ({ method: 'GET', path: maps }) },
    { name: 'audited: list of 2,500 objects as YAML', request: () => ({ method: 'GET', path: maps, headers: { accept: yaml } }) },
    { name: 'audited: list of 2,500 objects as Protobuf', request: () => ({ method: 'GET', path: maps, headers: { accept: protobuf } }) },
  ]
  return attacks.map((attack) => ({ ...attack, isAudited: true }))
}

const documents = (name: string, path: string, accept: string): Attack => ({
  name,
  request: () => ({ method: 'GET', path, headers: { accept } }),
})

export const attacks: readonly Attack[] = [
  documents('first OpenAPI 2, Protobuf', '/openapi/v2', 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf'),
  documents('OpenAPI 2, JSON', '/openapi/v2', 'application/json'),
  documents('first OpenAPI 3, index of all documents', '/openapi/v3', 'application/json'),
  documents('OpenAPI 3, the document of the core group', '/openapi/v3/api/v1', 'application/json'),
  documents('aggregated discovery', '/apis', 'application/json;g=apidiscovery.orch.io;v=v2;as=APIGroupDiscoveryList'),
  {
    name: 'GET /metrics with 50,000 series',
    before: everyVerb,
    mayFail: true,
    request: () => ({ method: 'GET', path: '/metrics' }),
  },
  { name: 'ConfigMap of 45,000 keys', request: () => wideNamed('a1') },
  { name: 'the same, dry run', request: () => ({ ...wideNamed('a2'), path: `${maps}?dryRun=All` }) },
  { name: 'GET of it, pretty', before: () => [wideNamed('a3')], request: () => ({ method: 'GET', path: `${maps}/a3?pretty=true` }) },
  {
    name: 'GET of it as YAML',
    before: () => [wideNamed('a3y')],
    request: () => ({ method: 'GET', path: `${maps}/a3y`, headers: { accept: yaml } }),
  },
  {
    name: 'GET of it as Protobuf',
    before: () => [wideNamed('a3p')],
    request: () => ({ method: 'GET', path: `${maps}/a3p`, headers: { accept: 'application/vnd.orch.protobuf' } }),
  },
  {
    name: 'GET of it as CBOR',
    before: () => [wideNamed('a3c')],
    request: () => ({ method: 'GET', path: `${maps}/a3c`, headers: { accept: cbor } }),
  },
  {
    name: 'list of 10,000 objects, CBOR',
    before: () =>
      many(10_000, (index) =>
        post(`${core}/services`, { metadata: { name: `c${index}` }, spec: { type: 'ExternalName', externalName: 'a.b' } }),
      ),
    request: () => ({ method: 'GET', path: `${core}/services`, headers: { accept: cbor } }),
  },
  {
    name: 'list of 20 objects of 45,000 keys, CBOR',
    before: () => many(20, (index) => wideNamed(`a3c${index}`)),
    request: () => ({ method: 'GET', path: maps, headers: { accept: cbor } }),
  },
  {
    name: 'watch with 20 initial objects of 45,000 keys, CBOR',
    request: () => ({ method: 'GET', path: `${maps}?watch=1`, headers: { accept: cbor } }),
  },
  { name: 'PUT of 45,000 other values', before: () => [wideNamed('a4')], request: () => put(`${maps}/a4`, map('a4', changed)) },
  { name: 'merge patch of 45,000 keys', before: () => [wideNamed('a5')], request: () => patch(`${maps}/a5`, merge, { data: changed }) },
  {
    name: 'strategic merge patch of 45,000 keys',
    before: () => [wideNamed('a6')],
    request: () => patch(`${maps}/a6`, strategic, { data: changed }),
  },
  {
    name: 'merge patch of 1 of 45,000 keys',
    before: () => [wideNamed('a7')],
    request: () => patch(`${maps}/a7`, merge, { data: { k1: 'x' } }),
  },
  {
    name: 'JSON patch of 10,000 operations',
    before: () => [wideNamed('a8')],
    request: () => patch(`${maps}/a8`, jsonPatch, patches(10_000)),
  },
  { name: 'apply of 45,000 keys, new', request: () => patch(`${maps}/a9?fieldManager=m`, applied, map('a9', wide)) },
  {
    name: 'apply of 45,000 keys over 45,000 of another',
    before: () => [patch(`${maps}/a10?fieldManager=m`, applied, map('a10', wide))],
    request: () => patch(`${maps}/a10?fieldManager=n&force=true`, applied, map('a10', changed)),
  },
  {
    name: 'apply of 45,000 keys that conflict',
    before: () => [patch(`${maps}/a10c?fieldManager=m`, applied, map('a10c', wide))],
    request: () => patch(`${maps}/a10c?fieldManager=n`, applied, map('a10c', changed)),
  },
  {
    name: 'apply that takes 45,000 keys away',
    before: () => [patch(`${maps}/a11?fieldManager=m`, applied, map('a11', wide))],
    request: () => patch(`${maps}/a11?fieldManager=m`, applied, map('a11', { a: 'b' })),
  },
  { name: 'DELETE of 45,000 keys', before: () => [wideNamed('a12')], request: () => ({ method: 'DELETE', path: `${maps}/a12` }) },
  { name: '70,000 unknown fields', request: () => post(maps, { ...map('a13', {}), ...keys(70_000, () => 1) }) },
  {
    name: '70,000 unknown fields, strict',
    request: () => ({ ...post(maps, { ...map('a13s', {}), ...keys(70_000, () => 1) }), path: `${maps}?fieldValidation=Strict` }),
  },
  {
    name: '70,000 duplicate fields',
    request: () => ({
      method: 'POST',
      path: maps,
      body: `{"metadata":{"name":"a14"},"data":{${many(70_000, (i) => `"k${i % 35_000}":"v"`).join(',')}}}`,
    }),
  },
  {
    name: '70,000 keys that are faulty',
    request: () =>
      post(
        maps,
        map(
          'a15',
          keys(70_000, () => 'v', 'bad key '),
        ),
      ),
  },
  { name: '45,000 labels', request: () => post(maps, map('b1', {}, { labels: wide })) },
  { name: '45,000 annotations, too long', request: () => post(maps, map('b2', {}, { annotations: wide })) },
  { name: '60,000 finalizers', request: () => post(maps, map('b3', {}, { finalizers: many(60_000, (index) => `a.b/f${index}`) })) },
  {
    name: '15,000 ownerReferences',
    request: () =>
      post(
        maps,
        map('b4', {}, { ownerReferences: many(15_000, (i) => ({ apiVersion: 'v1', kind: 'ConfigMap', name: `o${i}`, uid: `u${i}` })) }),
      ),
  },
  { name: '8,000 managedFields entries, refused', request: () => post(maps, map('b5', {}, { managedFields: entries(8_000) })) },
  {
    name: 'PUT with 1,000 managedFields entries',
    before: () => [small('b6')],
    request: () =>
      put(
        `${maps}/b6`,
        map(
          'b6',
          keys(8_000, () => 'v'),
          { managedFields: entries(1_000) },
        ),
      ),
  },
  {
    name: '1,000 managedFields entries of 60 fields',
    before: () => [small('b7')],
    request: () =>
      put(
        `${maps}/b7`,
        map(
          'b7',
          keys(100, () => 'v'),
          { managedFields: entries(1_000).map((entry) => ({ ...entry, fieldsV1: fields })) },
        ),
      ),
  },
  { name: 'Pod of 8,000 volumes', request: () => podWith('c1', { volumes: volumes(8_000) }) },
  { name: 'Pod of 35,000 volumes', request: () => podWith('c1b', { volumes: volumes(35_000) }) },
  { name: 'Pod of 3,500 containers', request: () => podWith('c2', { containers: many(3_500, (i) => ({ name: `c${i}`, image: 'i' })) }) },
  {
    name: 'Pod of 15,000 env',
    request: () => podWith('c3', { containers: [{ ...container, env: many(15_000, (i) => ({ name: `E${i}`, value: 'v' })) }] }),
  },
  {
    name: 'Pod of 12,000 ports',
    request: () => podWith('c4', { containers: [{ ...container, ports: many(12_000, (i) => ({ containerPort: 1 + i })) }] }),
  },
  {
    name: 'Pod of 30,000 tolerations',
    request: () => podWith('c5', { tolerations: many(30_000, (i) => ({ key: `k${i}`, operator: 'Exists' })) }),
  },
  {
    name: 'Pod of 4,000 volumes and mounts',
    request: () =>
      podWith('c6', {
        volumes: volumes(4_000),
        containers: [{ ...container, volumeMounts: many(4_000, (i) => ({ name: `v${i}`, mountPath: `/m${i}` })) }],
      }),
  },
  {
    name: 'strategic merge of 8,000 volumes',
    before: () => [post(`${core}/podtemplates`, { metadata: { name: 'c7' }, template: pod('x', { volumes: volumes(8_000) }) })],
    request: () =>
      patch(`${core}/podtemplates/c7`, strategic, {
        template: { spec: { volumes: many(8_000, (i) => ({ name: `v${7_999 - i}`, emptyDir: { medium: 'Memory' } })) } },
      }),
  },
  {
    name: 'apply of 8,000 volumes over 8,000',
    before: () => [
      patch(`${core}/podtemplates/c8?fieldManager=m`, applied, {
        apiVersion: 'v1',
        kind: 'PodTemplate',
        metadata: { name: 'c8' },
        template: { spec: { containers: [container], volumes: volumes(8_000) } },
      }),
    ],
    request: () =>
      patch(`${core}/podtemplates/c8?fieldManager=n&force=true`, applied, {
        apiVersion: 'v1',
        kind: 'PodTemplate',
        metadata: { name: 'c8' },
        template: { spec: { volumes: many(8_000, (i) => ({ name: `v${7_999 - i}`, emptyDir: { medium: 'Memory' } })) } },
      }),
  },
  {
    name: 'Pod of 20,000 anti-affinity terms',
    request: () =>
      podWith('c9', {
        affinity: {
          podAntiAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: many(20_000, (i) => ({ topologyKey: `k${i}`, labelSelector: {} })),
          },
        },
      }),
  },
  {
    name: 'YAML of 60,000 lines',
    request: () => ({
      method: 'POST',
      path: maps,
      type: yaml,
      body: yamlMap(
        'd1',
        yamlLines(60_000, (i) => `  k${i}: v`),
      ),
    }),
  },
  {
    name: 'YAML of 60,000 anchors',
    request: () => ({
      method: 'POST',
      path: maps,
      type: yaml,
      body: yamlMap(
        'd2',
        yamlLines(60_000, (i) => `  k${i}: &a${i} v`),
      ),
    }),
  },
  {
    name: 'YAML of 60,000 aliases',
    request: () => ({
      method: 'POST',
      path: maps,
      type: yaml,
      body: yamlMap('d3', `  k: &a v\n${yamlLines(60_000, (i) => `  k${i}: *a`)}`),
    }),
  },
  {
    name: 'YAML of 60,000 in flow style',
    request: () => ({
      method: 'POST',
      path: maps,
      type: yaml,
      body: `metadata: {name: d4}\ndata: {${many(60_000, (i) => `k${i}: v`).join(', ')}}\n`,
    }),
  },
  {
    name: 'YAML of 60,000 duplicates',
    request: () => ({
      method: 'POST',
      path: maps,
      type: yaml,
      body: yamlMap(
        'd5',
        yamlLines(60_000, (i) => `  k${i % 30_000}: v`),
      ),
    }),
  },
  { name: 'YAML of 3 MB of nothing', request: () => ({ method: 'POST', path: maps, type: yaml, body: '- '.repeat(1_500_000) }) },
  {
    name: 'YAML: one block of 3 MB',
    request: () => ({ method: 'POST', path: maps, type: yaml, body: yamlMap('d7', `  k: |\n${'    a\n'.repeat(450_000)}`) }),
  },
  {
    name: 'YAML of 1,000,000 ints',
    request: () => ({
      method: 'POST',
      path: revisions,
      type: yaml,
      body: `metadata: {name: d8}\nrevision: 1\ndata: {a: [${'1, '.repeat(900_000)}1]}\n`,
    }),
  },
  {
    name: 'YAML as an apply',
    request: () =>
      patch(
        `${maps}/d9?fieldManager=m`,
        applied,
        `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: d9}\ndata:\n${yamlLines(45_000, (i) => `  k${i}: v`)}`,
      ),
  },
  { name: '70,000 ints', request: () => post(revisions, revision('e1', { a: many(70_000, () => 1) })) },
  {
    name: '70,000 ints beyond 2^53',
    request: () => ({
      method: 'POST',
      path: revisions,
      body: `{"metadata":{"name":"e1c"},"revision":1,"data":{"a":[${many(70_000, (i) => `90071992547409${(i % 90) + 10}`).join(',')}]}}`,
    }),
  },
  {
    name: '9,900 levels deep',
    request: () => ({
      method: 'POST',
      path: revisions,
      body: `{"metadata":{"name":"e2"},"revision":1,"data":{"a":${'['.repeat(9_900)}${']'.repeat(9_900)}}}`,
    }),
  },
  { name: '70,000 empty objects', request: () => post(revisions, revision('e3', { a: many(70_000, () => ({})) })) },
  { name: 'JSON of 1,500,000 brackets', request: () => ({ method: 'POST', path: revisions, body: '['.repeat(1_500_000) }) },
  {
    name: 'NetworkPolicy of 14,000 rules',
    request: () => ({
      method: 'POST',
      path: '/apis/networking.orch.io/v1/namespaces/default/networkpolicies',
      body: json({
        ...policy(
          'f1',
          many(14_000, (i) => ({ ports: [{ port: i + 1 }], from: [{ podSelector: {} }] })),
        ),
        apiVersion: undefined,
      }),
    }),
  },
  {
    name: 'ClusterRole of 20,000 rules',
    request: () => post('/apis/rbac.authorization.orch.io/v1/clusterroles', { metadata: { name: 'f2' }, rules: many(20_000, rule) }),
  },
  {
    name: 'ClusterRole of 20,000 rules, escalation',
    before: () => [
      post('/apis/rbac.authorization.orch.io/v1/clusterroles', {
        metadata: { name: 'f3u' },
        rules: [...many(10_000, rule), { verbs: ['create'], apiGroups: ['*'], resources: ['clusterroles'] }],
      }),
      post('/apis/rbac.authorization.orch.io/v1/clusterrolebindings', {
        metadata: { name: 'f3u' },
        roleRef: { apiGroup: 'rbac.authorization.orch.io', kind: 'ClusterRole', name: 'f3u' },
        subjects: [{ kind: 'User', name: 'jane', apiGroup: 'rbac.authorization.orch.io' }],
      }),
    ],
    request: () => ({
      ...post('/apis/rbac.authorization.orch.io/v1/clusterroles', {
        metadata: { name: 'f3' },
        rules: many(20_000, (i) => rule(19_999 - i)),
      }),
      headers: { 'impersonate-user': 'jane' },
    }),
  },
  {
    name: 'RoleBinding of 20,000 subjects',
    request: () =>
      post('/apis/rbac.authorization.orch.io/v1/clusterrolebindings', {
        metadata: { name: 'f4' },
        roleRef: { apiGroup: 'rbac.authorization.orch.io', kind: 'ClusterRole', name: 'view' },
        subjects: many(20_000, (i) => ({ kind: 'User', name: `u${i}`, apiGroup: 'rbac.authorization.orch.io' })),
      }),
  },
  {
    name: 'SubjectAccessReview of 35,000 extras and groups',
    request: () =>
      post('/apis/authorization.orch.io/v1/subjectaccessreviews', {
        spec: {
          user: 'jane',
          groups: many(35_000, (i) => `g${i}`),
          extra: keys(35_000, () => ['x']),
          resourceAttributes: { verb: 'get', resource: 'pods' },
        },
      }),
  },
  {
    name: 'list by a selector of 3,000 terms',
    before: () => [],
    request: () => ({ method: 'GET', path: `${maps}?labelSelector=${terms(3_000)}` }),
  },
  { name: 'watch by it', request: () => ({ method: 'GET', path: `${maps}?watch=1&labelSelector=${terms(3_000)}` }) },
  {
    name: 'Service of 12,000 ports',
    request: () =>
      post(`${core}/services`, { metadata: { name: 'g1' }, spec: { ports: many(12_000, (i) => ({ name: `p${i}`, port: i + 1 })) } }),
  },
  {
    name: 'StorageClass of 60,000 values in a topology',
    request: () => {
      const matchLabelExpressions = [{ key: 'zone', values: many(60_000, (i) => `z${i}`) }]
      return post('/apis/storage.orch.io/v1/storageclasses', {
        metadata: { name: 'g5' },
        provisioner: 'example.com/a',
        allowedTopologies: [{ matchLabelExpressions }],
      })
    },
  },
  {
    name: 'Endpoints of 30,000 addresses',
    request: () =>
      post(`${core}/endpoints`, {
        metadata: { name: 'g2' },
        subsets: [{ addresses: many(30_000, (i) => ({ ip: `10.${i % 200}.${(i / 200) | 0}.1` })), ports: [{ port: 1 }] }],
      }),
  },
  {
    name: 'Ingress of 7,000 rules',
    request: () =>
      post('/apis/networking.orch.io/v1/namespaces/default/ingresses', {
        metadata: { name: 'g3' },
        spec: {
          rules: many(7_000, (i) => ({
            host: `h${i}.example.com`,
            http: { paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name: 's', port: { number: 80 } } } }] },
          })),
        },
      }),
  },
  {
    name: 'DELETE with 70,000 unknown options',
    before: () => [small('h1')],
    request: () => ({
      method: 'DELETE',
      path: `${maps}/h1`,
      body: json({ kind: 'DeleteOptions', apiVersion: 'v1', ...keys(70_000, () => 1) }),
    }),
  },
  {
    name: 'ClusterRole of one rule for 27,000,000 permissions, escalation',
    request: () => ({
      ...post('/apis/rbac.authorization.orch.io/v1/clusterroles', {
        metadata: { name: 'f3b' },
        rules: [{ verbs: many(300, (i) => `v${i}`), apiGroups: many(300, (i) => `g${i}`), resources: many(300, (i) => `r${i}`) }],
      }),
      headers: { 'impersonate-user': 'jane' },
    }),
  },
  {
    name: '8 ConfigMaps of 45,000 keys at once, dry run',
    request: () => ({ ...wideNamed('i1'), path: `${maps}?dryRun=All` }),
    times: 8,
  },
  { name: '8 YAML bodies of 60,000 lines at once', request: () => yamlOf('i2'), times: 8 },
  {
    name: 'update of 45,000 keys, 200 watchers',
    before: () => [
      wideNamed('j1'),
      ...many(200, (): Heavy => ({ method: 'GET', path: `${maps}?watch=1&fieldSelector=metadata.name%3Dj1` })),
    ],
    request: () => patch(`${maps}/j1`, merge, { data: { k1: 'x' } }),
  },
  {
    name: 'update of 45,000 keys, 50 watchers of Tables, 50 of Protobuf, 50 of CBOR',
    before: () => [
      wideNamed('j2'),
      ...[table, protobuf, cbor].flatMap((accept) =>
        many(50, (): Heavy => ({ method: 'GET', path: `${maps}?watch=1&fieldSelector=metadata.name%3Dj2`, headers: { accept } })),
      ),
    ],
    request: () => patch(`${maps}/j2`, merge, { data: { k1: 'x' } }),
  },
  {
    name: 'update of 45,000 keys, 200 watchers of as many selectors',
    before: () => [
      wideNamed('j3'),
      ...many(
        200,
        (index): Heavy => ({ method: 'GET', path: `${maps}?watch=1&fieldSelector=metadata.name%3Dj3&labelSelector=!k${index}` }),
      ),
    ],
    request: () => patch(`${maps}/j3`, merge, { data: { k1: 'x' } }),
  },
  ...[
    { words: 'JSON', accept: 'application/json' },
    { words: 'Tables', accept: table },
    { words: 'Protobuf', accept: protobuf },
    { words: 'CBOR', accept: cbor },
  ].map(({ words, accept }, at): Attack => {
    const write = (index: number): Heavy =>
      index === 0 ? wideNamed(`j4${at}`) : patch(`${maps}/j4${at}`, merge, { data: { k1: `${index}` } })
    return {
      name: `20 watches that have missed 10 changes of 45,000 keys, ${words}`,
      before: () => many(10, write),
      request: () => ({
        method: 'GET',
        path: `${maps}?watch=1&resourceVersion=1&fieldSelector=metadata.name%3Dj4${at}`,
        headers: { accept },
      }),
      times: 20,
    }
  }),
  ...lists('CBOR', cbor),
  ...lists('JSON', 'application/json'),
  ...lists('indented JSON', 'application/json', '?pretty=true'),
  ...lists('YAML', yaml),
  ...lists('a Table', table),
  ...lists('Protobuf', protobuf),
  {
    name: 'list of 5,000 objects by a selector of 1,000 terms',
    request: () => ({ method: 'GET', path: `${secrets}?labelSelector=${terms(1_000)}` }),
  },
  ...definitionAttacks,
  ...ruleAttacks,
  ...nodeAttacks,
  ...audited(),
  { name: 'DELETE of a collection of 5,000', request: () => ({ method: 'DELETE', path: secrets }) },
]
