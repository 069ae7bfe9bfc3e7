import { applyMergePatch } from '@orch/core/patch'
import { expect, test } from 'vitest'
import { type Answer, aName, aNamespace, type Body, created, sharedApi } from './api.ts'
import { sampleFields, sampleName } from './sample-objects.ts'

// The test would count a controller's writes as differences.
const server = sharedApi({ controllers: [] })

type Json = Record<string, unknown>

const labels = { app: 'a' }
const ports = [
  { name: 'http', containerPort: 80 },
  { name: 'more', containerPort: 81 },
]
const containers = [
  { name: 'c', image: 'example.com/c:2', ports, livenessProbe: { httpGet: { port: 81 } } },
  { name: 'd', image: 'example.com/d', env: [{ name: 'e', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }] },
]
const volumes = [{ name: 'empty' }, { name: 's', secret: { secretName: 's' } }, { name: 'h', hostPath: { path: '/' } }]
const template = { metadata: { labels }, spec: { containers, volumes } }
const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['none'] }
const webhook = {
  name: 'two.example.com',
  clientConfig: { service: { name: 's', namespace: 'n' } },
  rules: [rule],
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
}
const matchConstraints = { resourceRules: [{ ...rule, apiGroups: ['samples.example.com'] }], excludeResourceRules: [rule] }
const converted = {
  strategy: 'Webhook',
  webhook: { clientConfig: { service: { name: 's', namespace: 'n' } }, conversionReviewVersions: ['v1'] },
}

interface Row {
  readonly kind: string
  /** The path after `/api/v1` or `/apis`; without a namespace for cluster-scoped kinds. */
  readonly at: string
  /** The change as a merge patch. Defaults complete parts of each change. */
  readonly change: Json
  /** Fields that replace the fields of the sample object. */
  readonly fields?: Json
  /** The ways of changing that the kind's rules forbid. */
  readonly without?: readonly string[]
}

const core = (plural: string): string => `/api/v1/namespaces/NS/${plural}`
const grouped = (group: string, plural: string): string => `/apis/${group}/namespaces/NS/${plural}`

/** Every kind that can be changed and that has defaults or is prepared by the server. */
const rows: readonly Row[] = [
  { kind: 'Secret', at: core('secrets'), change: { stringData: { a: 'text', b: 'more' } } },
  { kind: 'Secret', at: core('secrets'), fields: { data: { a: 'AAEC' } }, change: { stringData: { a: 'text' }, data: { c: 'AAEC' } } },
  { kind: 'Secret', at: core('secrets'), fields: {}, change: { stringData: { a: 'text' } } },
  { kind: 'Namespace', at: '/api/v1/namespaces', change: { metadata: { labels: { 'orch.io/metadata.name': 'other', b: 'c' } } } },
  { kind: 'Namespace', at: '/api/v1/namespaces', change: { metadata: { labels: { 'orch.io/metadata.name': '' } } } },
  {
    kind: 'Pod',
    at: core('pods'),
    change: { metadata: { annotations: { a: 'b' } }, spec: { activeDeadlineSeconds: 5 } },
    // The change would remove the tolerations that admission has added.
    without: ['PUT'],
  },
  { kind: 'PodTemplate', at: core('podtemplates'), change: { template } },
  { kind: 'PodTemplate', at: core('podtemplates'), change: { metadata: { labels } } },
  { kind: 'ReplicationController', at: core('replicationcontrollers'), change: { spec: { template } } },
  {
    kind: 'Service',
    at: core('services'),
    fields: { spec: { clusterIP: 'None', ports: [{ name: 'a', port: 1 }] } },
    change: {
      spec: {
        sessionAffinity: 'ClientIP',
        ports: [
          { name: 'a', port: 1 },
          { name: 'b', port: 2 },
        ],
      },
    },
  },
  { kind: 'Endpoints', at: core('endpoints'), change: { subsets: [{ addresses: [{ ip: '10.1.0.2' }], ports: [{ port: 80 }] }] } },
  { kind: 'EndpointSlice', at: grouped('discovery.orch.io/v1', 'endpointslices'), change: { ports: [{ port: 81 }] } },
  {
    kind: 'LimitRange',
    at: core('limitranges'),
    change: { spec: { limits: [{ type: 'Container', max: { cpu: '2' }, min: { memory: '1Mi' } }] } },
  },
  { kind: 'ResourceQuota', at: core('resourcequotas'), change: { spec: { hard: { 'requests.cpu': '1500u' } } } },
  { kind: 'Node', at: '/api/v1/nodes', fields: {}, change: { spec: { podCIDR: '10.3.0.0/24' } }, without: ['PUT'] },
  { kind: 'PersistentVolume', at: '/api/v1/persistentvolumes', change: { spec: { capacity: { storage: '1500u' } } } },
  { kind: 'PersistentVolumeClaim', at: core('persistentvolumeclaims'), change: { metadata: { labels } } },
  {
    kind: 'Deployment',
    at: grouped('apps/v1', 'deployments'),
    change: { spec: { template, strategy: { rollingUpdate: { maxSurge: 2 } } } },
  },
  { kind: 'ReplicaSet', at: grouped('apps/v1', 'replicasets'), change: { spec: { template } } },
  { kind: 'DaemonSet', at: grouped('apps/v1', 'daemonsets'), change: { metadata: { labels } } },
  { kind: 'StatefulSet', at: grouped('apps/v1', 'statefulsets'), change: { spec: { template, updateStrategy: { rollingUpdate: {} } } } },
  {
    kind: 'Job',
    at: grouped('batch/v1', 'jobs'),
    fields: {
      spec: { completions: 2, parallelism: 1, template: { metadata: { labels }, spec: { containers, volumes, restartPolicy: 'Never' } } },
    },
    change: { spec: { parallelism: 3, suspend: true } },
    // The change would remove the labels of the Job's Pods.
    without: ['PUT'],
  },
  {
    kind: 'CronJob',
    at: grouped('batch/v1', 'cronjobs'),
    change: { spec: { jobTemplate: { spec: { template: { spec: { containers, volumes, restartPolicy: 'Never' } } } } } },
  },
  {
    kind: 'HorizontalPodAutoscaler',
    at: grouped('autoscaling/v2', 'horizontalpodautoscalers'),
    change: { spec: { behavior: { scaleUp: { selectPolicy: 'Min' }, scaleDown: { stabilizationWindowSeconds: 5 } } } },
  },
  { kind: 'HorizontalPodAutoscaler', at: grouped('autoscaling/v1', 'horizontalpodautoscalers'), change: { spec: { maxReplicas: 4 } } },
  {
    kind: 'NetworkPolicy',
    at: grouped('networking.orch.io/v1', 'networkpolicies'),
    change: { spec: { ingress: [{ ports: [{ port: 1 }] }] } },
  },
  { kind: 'Ingress', at: grouped('networking.orch.io/v1', 'ingresses'), change: { metadata: { labels } } },
  {
    kind: 'IngressClass',
    at: '/apis/networking.orch.io/v1/ingressclasses',
    change: { spec: { parameters: { kind: 'K', name: 'n', apiGroup: 'example.com' } } },
  },
  { kind: 'CSIDriver', at: '/apis/storage.orch.io/v1/csidrivers', change: { spec: { tokenRequests: [{ audience: 'a' }] } } },
  { kind: 'StorageClass', at: '/apis/storage.orch.io/v1/storageclasses', change: { metadata: { labels } } },
  { kind: 'PriorityClass', at: '/apis/scheduling.orch.io/v1/priorityclasses', change: { description: 'y' } },
  {
    kind: 'RoleBinding',
    at: grouped('rbac.authorization.orch.io/v1', 'rolebindings'),
    change: { subjects: [{ kind: 'User', name: 'u' }] },
  },
  {
    kind: 'ClusterRoleBinding',
    at: '/apis/rbac.authorization.orch.io/v1/clusterrolebindings',
    change: { subjects: [{ kind: 'Group', name: 'u' }] },
  },
  {
    kind: 'MutatingWebhookConfiguration',
    at: '/apis/admissionregistration.orch.io/v1/mutatingwebhookconfigurations',
    fields: {},
    change: { webhooks: [webhook] },
  },
  {
    kind: 'ValidatingWebhookConfiguration',
    at: '/apis/admissionregistration.orch.io/v1/validatingwebhookconfigurations',
    fields: {},
    change: { webhooks: [webhook] },
  },
  {
    kind: 'ValidatingAdmissionPolicy',
    at: '/apis/admissionregistration.orch.io/v1/validatingadmissionpolicies',
    change: { spec: { matchConstraints } },
  },
  {
    kind: 'MutatingAdmissionPolicy',
    at: '/apis/admissionregistration.orch.io/v1/mutatingadmissionpolicies',
    change: { spec: { matchConstraints } },
  },
  {
    kind: 'ValidatingAdmissionPolicyBinding',
    at: '/apis/admissionregistration.orch.io/v1/validatingadmissionpolicybindings',
    change: { spec: { matchResources: matchConstraints } },
  },
  {
    kind: 'MutatingAdmissionPolicyBinding',
    at: '/apis/admissionregistration.orch.io/v1/mutatingadmissionpolicybindings',
    change: { spec: { matchResources: matchConstraints } },
  },
  { kind: 'FlowSchema', at: '/apis/flowcontrol.apiserver.orch.io/v1/flowschemas', change: { spec: { matchingPrecedence: 0 } } },
  {
    kind: 'PriorityLevelConfiguration',
    at: '/apis/flowcontrol.apiserver.orch.io/v1/prioritylevelconfigurations',
    change: { spec: { limited: { limitResponse: { type: 'Queue', queuing: {} } } } },
  },
  {
    kind: 'CustomResourceDefinition',
    at: '/apis/apiextensions.orch.io/v1/customresourcedefinitions',
    change: { spec: { conversion: converted } },
  },
  {
    kind: 'APIService',
    at: '/apis/apiregistration.orch.io/v1/apiservices',
    change: { spec: { service: { name: 's', namespace: 'n' }, insecureSkipTLSVerify: true } },
  },
  { kind: 'Lease', at: grouped('coordination.orch.io/v1', 'leases'), change: { spec: { holderIdentity: 'b' } } },
]

/** The object after the merge patch. */
function mergePatch(object: unknown, change: Json): Json {
  const outcome = applyMergePatch(object, change)
  if (outcome.kind === 'refused') throw outcome.error
  return outcome.value
}

/** The ways to change an existing object. Each receives the created object as the client sent it and as the server answered it. */
const ways: Readonly<Record<string, (path: string, sent: Json, change: Json) => Promise<Answer>>> = {
  async PUT(path, sent, change) {
    const { resourceVersion } = (await server.api.get(path)).body.metadata
    return server.api.put(path, mergePatch(sent, { ...change, metadata: { resourceVersion, ...(change['metadata'] ?? {}) } }))
  },
  'PUT of what is shown': async (path, _sent, change) => server.api.put(path, mergePatch((await server.api.get(path)).body, change)),
  'merge patch': (path, _sent, change) => patchAs('merge-patch', path, change),
  'strategic merge patch': (path, _sent, change) => patchAs('strategic-merge-patch', path, change),
  'JSON patch': async (path, _sent, change) => {
    const after = mergePatch((await server.api.get(path)).body, change)
    const named = Object.keys(change).map((name) => ({ op: 'add', path: `/${name}`, value: after[name] }))
    return patchAs('json-patch', path, named)
  },
  apply: (path, sent, change) => patchAs('apply-patch', `${path}?fieldManager=m&force=true`, mergePatch(sent, change)),
}

function patchAs(type: string, path: string, body: unknown): Promise<Answer> {
  return server.api.send('PATCH', path, {
    body,
    headers: { 'content-type': `application/${type}${type === 'apply-patch' ? '+yaml' : '+json'}` },
  })
}

/** The object without the parts that differ after each write. */
function comparable({ body }: Pick<Answer, 'body'>): unknown {
  const { metadata, status: _status, ...rest } = body
  const { labels: given, annotations } = metadata
  const text = JSON.stringify({ ...rest, labels: given, annotations })
  const own = [metadata.name, metadata.uid, metadata.name.split('.')[0] ?? '']
  return JSON.parse(own.reduce((shown, word) => shown.replaceAll(word, 'OWN'), text).replace(/"[Dd]\d+/g, '"OWN'))
}

async function start({ kind, at, fields }: Row, namespace: string): Promise<{ path: string; sent: Json }> {
  const path = at.replace('/NS/', `/${namespace}/`)
  const apiVersion = path.replace(/^\/apis?\/(.*?)\/(namespaces\/.*|[^/]+)$/, '$1')
  if (kind === 'CustomResourceDefinition') return { path, sent: aDefinition(apiVersion) }
  const own = fields ?? sampleFields(kind, apiVersion, { domain: 'orch.io', namespace })
  const sent = { apiVersion, kind, metadata: { name: sampleName(kind) ?? aName('d') }, ...own }
  await server.api.delete(`${path}/${sent.metadata.name}`)
  return { path, sent }
}

/** A deleted definition ends at an unknown time, so each test uses another name. */
function aDefinition(apiVersion: string): Json {
  const plural = aName('d')
  const group = 'defaults.example.com'
  const schema = { openAPIV3Schema: { type: 'object' } }
  const versions = [{ name: 'v1', served: true, storage: true, schema }]
  const spec = { group, scope: 'Namespaced', names: { plural, kind: `D${plural.slice(2)}` }, versions }
  return { apiVersion, kind: 'CustomResourceDefinition', metadata: { name: `${plural}.${group}` }, spec }
}

test.each(rows.map((row, index) => [`${row.kind} (${index})`, row] as const))(
  'a change of a %s gets the same defaults as a create, with any verb',
  async (_, row) => {
    const namespace = await aNamespace(server.api)
    const { path, sent } = await start(row, namespace)
    const wanted = comparable({ body: await created(server.api, path, mergePatch(sent, row.change)) })
    const shown: Record<string, unknown> = {}
    const possible = Object.entries(ways).filter(([way]) => row.without?.includes(way) !== true)
    for (const [way, write] of possible) {
      const { sent } = await start(row, namespace)
      const { metadata } = await created(server.api, path, sent)
      const answer = await write(`${path}/${metadata.name}`, sent, row.change)
      shown[way] = answer.status === 200 ? comparable(answer) : answer.text
    }
    expect(shown).toEqual(Object.fromEntries(possible.map(([way]) => [way, wanted])))
  },
)

test('stringData of a Secret replaces earlier values, beside data in the body', async () => {
  const path = `/api/v1/namespaces/${await aNamespace(server.api)}/secrets`
  const made: Body = await created(server.api, path, { metadata: { name: 's' }, data: { a: 'b25l', b: 'b25l' } })
  const { body } = await server.api.put(`${path}/s`, { ...made, stringData: { a: 'two' } })
  expect(body['data']).toEqual({ a: 'dHdv', b: 'b25l' })
  expect(body).not.toHaveProperty('stringData')
  expect((await server.api.get(`${path}/s`)).body['data']).toEqual({ a: 'dHdv', b: 'b25l' })
})
