import { describe, expect, test } from 'vitest'
import { namesOf } from '../../names.ts'
import { decoderOf } from '../../schema/decode.ts'
import { applyDefaults } from '../testing/readers-testing.ts'

const complete = (type: string, body: unknown): Record<string, unknown> => {
  const decoded = decoderOf(type)(body, { trackUnknown: false })
  if (decoded.kind !== 'decoded') throw new Error(decoded.message)
  applyDefaults(type, decoded.object, namesOf('orch'))
  return decoded.object
}

describe('ReplicationController', () => {
  const template = { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'c', image: 'i' }] } }

  test('KIND-RC-02, KIND-RC-03: take labels and selector from the template', () => {
    const controller = complete('core/v1.ReplicationController', { spec: { template } })
    expect(controller).toMatchObject({ metadata: { labels: { app: 'a' } }, spec: { selector: { app: 'a' } } })
  })

  test('KIND-RC-03: keep a given selector', () => {
    const controller = complete('core/v1.ReplicationController', {
      metadata: { labels: { x: 'y' } },
      spec: { selector: { app: 'b' }, template },
    })
    expect(controller).toMatchObject({ metadata: { labels: { x: 'y' } }, spec: { selector: { app: 'b' } } })
  })

  test('KIND-RC-06, KIND-RC-08: set one replica and no minimum seconds', () => {
    const spec = complete('core/v1.ReplicationController', { spec: { template } })['spec'] as Record<string, unknown>
    expect(spec['replicas']).toBe(1)
    expect(spec['minReadySeconds'] ?? 0).toBe(0)
  })

  test('KIND-RC-07: keep zero replicas', () => {
    expect(complete('core/v1.ReplicationController', { spec: { replicas: 0, template } })).toMatchObject({ spec: { replicas: 0 } })
  })

  test('KIND-RC-05, KIND-GEN-06: complete the template like a Pod', () => {
    const controller = complete('core/v1.ReplicationController', { spec: { template } })
    expect(controller).toMatchObject({
      spec: { template: { spec: { restartPolicy: 'Always', dnsPolicy: 'ClusterFirst', containers: [{ imagePullPolicy: 'Always' }] } } },
    })
  })
})

test('STORE-03: a Pod gets its defaults', () => {
  const pod = complete('core/v1.Pod', {
    spec: {
      hostNetwork: true,
      containers: [
        {
          name: 'c',
          image: 'registry:5000/i:1.2',
          ports: [{ containerPort: 80 }],
          resources: { limits: { cpu: '1' } },
          livenessProbe: { httpGet: { port: 80 } },
        },
      ],
      volumes: [{ name: 'v' }, { name: 's', secret: { secretName: 'x' } }],
    },
  })
  expect(pod['spec']).toEqual({
    volumes: [
      { name: 'v', emptyDir: {} },
      { name: 's', secret: { secretName: 'x', defaultMode: 420 } },
    ],
    containers: [
      {
        name: 'c',
        image: 'registry:5000/i:1.2',
        ports: [{ containerPort: 80, protocol: 'TCP', hostPort: 80 }],
        resources: { limits: { cpu: '1' }, requests: { cpu: '1' } },
        livenessProbe: {
          httpGet: { port: 80, path: '/', scheme: 'HTTP' },
          timeoutSeconds: 1,
          periodSeconds: 10,
          successThreshold: 1,
          failureThreshold: 3,
        },
        terminationMessagePath: '/dev/termination-log',
        terminationMessagePolicy: 'File',
        imagePullPolicy: 'IfNotPresent',
      },
    ],
    hostNetwork: true,
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 30,
    dnsPolicy: 'ClusterFirst',
    schedulerName: 'default-scheduler',
    securityContext: {},
    enableServiceLinks: true,
  })
})

test.each(['containers', 'initContainers'])('STORE-03: a limit of %s becomes the missing request, and a smaller request stays', (list) => {
  const resources = { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '500m', 'example.com/a': '1' } }
  const pod = complete('core/v1.Pod', { spec: { containers: [{ name: 'c' }], [list]: [{ name: 'c', resources }] } })
  expect(pod).toMatchObject({
    spec: { [list]: [{ resources: { ...resources, requests: { cpu: '500m', memory: '1Gi', 'example.com/a': '1' } } }] },
  })
})

test('STORE-03: a container without limits gets no requests', () => {
  const pod = complete('core/v1.Pod', { spec: { containers: [{ name: 'c', resources: {} }, { name: 'd' }] } })
  const { containers } = pod['spec'] as { containers: Record<string, unknown>[] }
  expect(containers.map(({ resources }) => resources)).toEqual([{}, {}])
})

test.each([
  ['nginx', 'Always'],
  ['nginx:latest', 'Always'],
  ['host:5000/nginx', 'Always'],
  ['nginx:1.2', 'IfNotPresent'],
  ['nginx@sha256:00', 'IfNotPresent'],
  ['nginx:1.2@sha256:00', 'IfNotPresent'],
  [`nginx:latest@sha256:${'0'.repeat(64)}`, 'Always'],
  ['nginx:latest@sha256:00', 'IfNotPresent'],
  ['Nginx', 'IfNotPresent'],
  ['Registry/nginx', 'Always'],
  ['a'.repeat(256), 'IfNotPresent'],
  [`a${'-a'.repeat(500)}!`, 'IfNotPresent'],
])('STORE-03: the image %s is pulled %s', (image, imagePullPolicy) => {
  expect(complete('core/v1.Pod', { spec: { containers: [{ name: 'c', image }] } })).toMatchObject({
    spec: { containers: [{ imagePullPolicy }] },
  })
})

describe('Namespace', () => {
  test('defaults are its label and phase; the server adds its finalizer', () => {
    expect(complete('core/v1.Namespace', { metadata: { name: 'a' } })).toMatchObject({
      metadata: { labels: { 'orch.io/metadata.name': 'a' } },
      status: { phase: 'Active' },
    })
    expect(complete('core/v1.Namespace', { metadata: { name: 'a' }, spec: {} })['spec']).toEqual({})
  })
})

test('KIND-NODE-23: allocatable resources default to the capacity', () => {
  expect(complete('core/v1.Node', { status: { capacity: { cpu: '4' } } })).toMatchObject({ status: { allocatable: { cpu: '4' } } })
  expect(complete('core/v1.Node', { status: { capacity: { cpu: '4' }, allocatable: { cpu: '3' } } })).toMatchObject({
    status: { allocatable: { cpu: '3' } },
  })
})

test('STORE-03: a Service gets its defaults', () => {
  expect(complete('core/v1.Service', { spec: { type: 'LoadBalancer', ports: [{ port: 80 }] } })['spec']).toEqual({
    ports: [{ protocol: 'TCP', port: 80, targetPort: 80 }],
    type: 'LoadBalancer',
    sessionAffinity: 'None',
    externalTrafficPolicy: 'Cluster',
    internalTrafficPolicy: 'Cluster',
    allocateLoadBalancerNodePorts: true,
  })
})

const others: readonly (readonly [string, unknown, unknown])[] = [
  ['core/v1.Secret', {}, { type: 'Opaque' }],
  [
    'core/v1.PersistentVolume',
    { spec: {} },
    { spec: { persistentVolumeReclaimPolicy: 'Retain', volumeMode: 'Filesystem' }, status: { phase: 'Pending' } },
  ],
  [
    'core/v1.LimitRange',
    { spec: { limits: [{ type: 'Container', max: { cpu: '2' }, min: { memory: '1Mi' } }] } },
    { spec: { limits: [{ default: { cpu: '2' }, defaultRequest: { cpu: '2', memory: '1Mi' } }] } },
  ],
  [
    'apps/v1.Deployment',
    { spec: { template: {} } },
    { spec: { replicas: 1, strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%' } } } },
  ],
  [
    'apps/v1.StatefulSet',
    { spec: { template: {} } },
    { spec: { podManagementPolicy: 'OrderedReady', updateStrategy: { rollingUpdate: { partition: 0 } } } },
  ],
  ['apps/v1.DaemonSet', { spec: { template: {} } }, { spec: { updateStrategy: { rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } } } }],
  ['batch/v1.Job', { spec: { template: {} } }, { spec: { completions: 1, parallelism: 1, backoffLimit: 6 } }],
  ['batch/v1.CronJob', { spec: { schedule: '* * * * *', jobTemplate: {} } }, { spec: { concurrencyPolicy: 'Allow', suspend: false } }],
  [
    'autoscaling/v1.HorizontalPodAutoscaler',
    { spec: { maxReplicas: 3 } },
    { spec: { minReplicas: 1, targetCPUUtilizationPercentage: 80 } },
  ],
  ['autoscaling/v2.HorizontalPodAutoscaler', { spec: { maxReplicas: 3 } }, { spec: { minReplicas: 1, metrics: [{ type: 'Resource' }] } }],
  ['storage/v1.StorageClass', {}, { reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' }],
  ['networking/v1.NetworkPolicy', { spec: { egress: [{}] } }, { spec: { policyTypes: ['Ingress', 'Egress'] } }],
  [
    'rbac/v1.RoleBinding',
    {
      roleRef: { kind: 'Role', name: 'r' },
      subjects: [
        { kind: 'User', name: 'u' },
        { kind: 'ServiceAccount', name: 's' },
      ],
    },
    {
      roleRef: { apiGroup: 'rbac.authorization.orch.io' },
      subjects: [{ apiGroup: 'rbac.authorization.orch.io' }, { kind: 'ServiceAccount', name: 's' }],
    },
  ],
  [
    'admissionregistration/v1.ValidatingWebhookConfiguration',
    { webhooks: [{ name: 'a.b.c', clientConfig: { service: {} }, rules: [{}] }] },
    {
      webhooks: [
        {
          failurePolicy: 'Fail',
          matchPolicy: 'Equivalent',
          timeoutSeconds: 10,
          clientConfig: { service: { port: 443 } },
          rules: [{ scope: '*' }],
        },
      ],
    },
  ],
  ['flowcontrol/v1beta2.FlowSchema', { spec: {} }, { spec: { matchingPrecedence: 1000 } }],
  ['core/v1.Service', { spec: { clusterIP: '10.0.0.1', ports: [{ port: 1 }] } }, { spec: { ports: [{ targetPort: 1 }] } }],
  [
    'apps/v1.StatefulSet',
    { spec: { volumeClaimTemplates: [{ metadata: { name: 'a' } }], updateStrategy: { type: 'OnDelete' } } },
    { spec: { volumeClaimTemplates: [{ kind: 'PersistentVolumeClaim', apiVersion: 'v1', metadata: { name: 'a' } }] } },
  ],
  ['apps/v1.StatefulSet', { spec: {} }, { spec: { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } } } }],
  ['apps/v1.DaemonSet', { spec: {} }, { metadata: { annotations: { 'deprecated.daemonset.template.generation': '0' } } }],
  [
    'apps/v1.Deployment',
    { spec: { template: { spec: { serviceAccountName: 'a', containers: [] } } } },
    { spec: { template: { spec: { serviceAccountName: 'a', serviceAccount: 'a' } } } },
  ],
  ['core/v1.Pod', { spec: { serviceAccount: 'a' } }, { spec: { serviceAccountName: 'a', serviceAccount: 'a' } }],
  [
    'core/v1.Pod',
    {
      spec: {
        containers: [{ name: 'c', resources: { requests: { cpu: '100u', memory: '1.5' }, limits: { cpu: '1e-4', memory: '1Mi' } } }],
      },
    },
    { spec: { containers: [{ resources: { requests: { cpu: '1m', memory: '1500m' }, limits: { cpu: '1e-3', memory: '1Mi' } } }] } },
  ],
  ['core/v1.ResourceQuota', { spec: { hard: { cpu: '1n' } } }, { spec: { hard: { cpu: '1m' } } }],
  ['core/v1.Node', { spec: { podCIDR: '10.1.0.0/24' } }, { spec: { podCIDR: '10.1.0.0/24', podCIDRs: ['10.1.0.0/24'] } }],
  [
    'core/v1.Node',
    { spec: { podCIDRs: ['10.1.0.0/24', 'fd00::/64'] } },
    { spec: { podCIDR: '10.1.0.0/24', podCIDRs: ['10.1.0.0/24', 'fd00::/64'] } },
  ],
  ['core/v1.PersistentVolumeClaim', { spec: {} }, { spec: { volumeMode: 'Filesystem' }, status: { phase: 'Pending' } }],
  [
    'core/v1.Node',
    { spec: { podCIDR: '10.0.0.0/24', podCIDRs: ['10.1.0.0/24'] } },
    { spec: { podCIDR: '10.0.0.0/24', podCIDRs: ['10.0.0.0/24'] } },
  ],
  [
    'apiextensions/v1.CustomResourceDefinition',
    { spec: { names: { kind: 'Widget', plural: 'widgets' } } },
    { spec: { names: { singular: 'widget', listKind: 'WidgetList' }, conversion: { strategy: 'None' } } },
  ],
]

test('a StatefulSet that names its update strategy also gets the rest of the strategy', () => {
  const { spec } = complete('apps/v1.StatefulSet', { spec: { updateStrategy: { type: 'RollingUpdate' } } }) as { spec: object }
  expect(spec).toMatchObject({ updateStrategy: { type: 'RollingUpdate' } })
  expect(spec).not.toHaveProperty('updateStrategy.rollingUpdate')
})

test.each(others)('STORE-03: a %s gets its defaults', (type, body, expected) => {
  expect(complete(type, body)).toMatchObject(expected as object)
})

test.each([
  ['+5', '5'],
  ['007', '7'],
  ['-03', '-3'],
  ['-0', '0'],
  ['000', '0'],
  ['+-5', '+-5'],
  ['five', 'five'],
])('a number %s in an annotation of older versions is written as %s', (text, written) => {
  for (const [type, name] of [
    ['apps/v1.Deployment', 'deprecated.deployment.rollback.to'],
    ['apps/v1.DaemonSet', 'deprecated.daemonset.template.generation'],
  ] as const) {
    expect(complete(type, { metadata: { annotations: { [name]: text } }, spec: {} })).toMatchObject({
      metadata: { annotations: { [name]: written } },
    })
  }
})

test('a Deployment loses an empty rollback revision, and nothing else', () => {
  const annotations = { 'deprecated.deployment.rollback.to': '', a: 'b' }
  const { metadata } = complete('apps/v1.Deployment', { metadata: { annotations }, spec: {} })
  expect(metadata).toMatchObject({ annotations: { a: 'b' } })
  expect(metadata).not.toHaveProperty(['annotations', 'deprecated.deployment.rollback.to'])
})

test('a claim of a StatefulSet gets the claim’s kind and version, also instead of others', () => {
  const claim = { kind: 'Foo', apiVersion: 'example.com/v9' }
  expect(complete('apps/v1.StatefulSet', { spec: { volumeClaimTemplates: [claim] } })).toMatchObject({
    spec: { volumeClaimTemplates: [{ kind: 'PersistentVolumeClaim', apiVersion: 'v1' }] },
  })
})
