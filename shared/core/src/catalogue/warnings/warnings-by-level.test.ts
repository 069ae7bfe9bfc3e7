import { describe, expect, test } from 'vitest'
import { namesOf } from '../../names.ts'
import { warningsAt } from '../testing/readers-testing.ts'
import { type Body, withChange } from '../testing/rules-testing.ts'

const names = namesOf('kubernetes')
const of = (type: string, object: Body, level: number, live?: Body): readonly string[] => warningsAt(level, { type, names }, object, live)

/** A kind of object, a field, the first level that warns about its value, and the warning there as kube-apiserver 1.37.2 gives it. */
type Row = readonly [type: string, path: string, value: unknown, since: number, warning: string]

const deployment: Body = {
  metadata: { name: 'd', generation: 1 },
  spec: { template: { metadata: {}, spec: { containers: [{ name: 'c', image: 'i' }] } } },
}
const bases: Readonly<Record<string, Body>> = {
  'core/v1.Pod': { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } },
  'apps/v1.Deployment': deployment,
}
const baseOf = (type: string): Body => bases[type] ?? { metadata: { name: 'x' }, spec: {} }

const podKind = 'core/v1.Pod'
const noSelector = 'a null labelSelector results in matching no pod'
const longName = 'a'.repeat(64)
const label = 'a DNS label is recommended: [must be no more than 63 characters]'
const labelValue =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an " +
  "alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is " +
  "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
const required = 'requiredDuringSchedulingIgnoredDuringExecution'
const preferred = 'preferredDuringSchedulingIgnoredDuringExecution'
const fraction = 'fractional byte value "1500m" is invalid, must be an integer'
const claim = { resources: { requests: { storage: '1500m' } } }
const port = { containerPort: 80, protocol: 'TCP' }
const versionOf = (schema: Body): readonly Body[] => [{ name: 'v1', schema: { openAPIV3Schema: schema } }]

const rows: readonly Row[] = [
  [
    'core/v1.Service',
    'metadata/annotations',
    { 'service.kubernetes.io/topology-aware-hints': 'Auto' },
    27,
    'annotation service.kubernetes.io/topology-aware-hints is deprecated, please use service.kubernetes.io/topology-mode instead',
  ],
  [
    'networking/v1.Ingress',
    'metadata/annotations',
    { 'kubernetes.io/ingress.class': 'c' },
    27,
    `annotation "kubernetes.io/ingress.class" is deprecated, please use 'spec.ingressClassName' instead`,
  ],
  ['core/v1.Node', 'spec/externalID', 'x', 27, 'spec.externalID: this field is deprecated, and is unused by Kubernetes'],
  ['core/v1.Node', 'spec/configSource', {}, 26, 'spec.configSource: the feature is removed'],
  ['apiextensions/v1.CustomResourceDefinition', 'spec/versions', versionOf({ type: 'string', format: 'x' }), 34, 'unrecognized format "x"'],
  [
    'apiextensions/v1.CustomResourceDefinition',
    'spec/versions',
    versionOf({ type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'object' } }),
    37,
    'x-kubernetes-list-type: set for items of type "object" is not supported by server-side apply or CEL validation rules',
  ],
  [
    podKind,
    'spec/containers',
    [{ name: 'c', env: ['1', '2'].map((value) => ({ name: 'A', value })) }],
    30,
    'spec.containers[0].env[1]: hides previous definition of "A", which may be dropped when using apply',
  ],
  [
    podKind,
    'spec/containers',
    [{ name: 'c', ports: [port, port] }],
    28,
    'spec.containers[0].ports[1]: duplicate port definition with spec.containers[0].ports[0]',
  ],
  ['core/v1.PersistentVolume', 'spec/glusterfs', {}, 28, 'spec.glusterfs: deprecated in v1.25, non-functional in v1.26+'],
  ...(
    [
      ['loadBalancerIP', '1.2.3.4', 'loadBalancerIP'],
      ['externalIPs', ['2001:db8::1'], 'externalIPs'],
      ['sessionAffinity', 'ClientIP', 'SessionAffinity'],
    ] as const
  ).map(
    ([field, value, shown]): Row => [
      'core/v1.Service',
      'spec',
      { type: 'ClusterIP', clusterIP: 'None', [field]: value },
      34,
      `spec.${shown} is ignored for headless services`,
    ],
  ),
  [
    'core/v1.Service',
    'spec',
    { type: 'ClusterIP', externalName: 'a.example' },
    28,
    'spec.externalName is ignored when spec.type is not "ExternalName"',
  ],
  [
    'core/v1.Service',
    'spec',
    { type: 'ExternalName', externalName: 'a.example', externalIPs: ['1.2.3.4'] },
    28,
    'spec.externalIPs is ignored when spec.type is "ExternalName"',
  ],
  [podKind, 'spec/volumes', [{ name: 'v', projected: { sources: [{}] } }], 32, 'volume "v" (Projected) has no sources provided'],
  [podKind, 'spec/topologySpreadConstraints', [{ topologyKey: 'k' }], 28, `spec.topologySpreadConstraints[0].labelSelector: ${noSelector}`],
  [
    podKind,
    'spec/affinity',
    { podAffinity: { [required]: [{ topologyKey: 'k' }] } },
    28,
    `spec.affinity.podAffinity.${required}[0].labelSelector: ${noSelector}`,
  ],
  [
    podKind,
    'spec/affinity',
    { podAntiAffinity: { [preferred]: [{ weight: 1, podAffinityTerm: { topologyKey: 'k' } }] } },
    28,
    `spec.affinity.podAntiAffinity.${preferred}[0].podAffinityTerm.labelSelector: ${noSelector}`,
  ],
  [
    podKind,
    'spec/affinity',
    { nodeAffinity: { [preferred]: [{ preference: { matchExpressions: [{ key: 'a', operator: 'In', values: ['b!'] }] } }] } },
    33,
    `spec.affinity.nodeAffinity.${preferred}[0].preference.matchExpressions[0].values[0]: b! is invalid, ${labelValue}`,
  ],
  [
    podKind,
    'metadata/annotations',
    { 'seccomp.security.alpha.kubernetes.io/pod': 'unconfined' },
    27,
    'metadata.annotations[seccomp.security.alpha.kubernetes.io/pod]: non-functional in v1.27+; use the "seccompProfile" field instead',
  ],
  [
    podKind,
    'spec/containers',
    [{ name: 'c', ports: [{ ...port, name: 'n', hostIP: '1.1.1.1' }] }],
    28,
    'spec.containers[0].ports[0]: hostIP set without hostPort: {Name:n HostPort:0 ContainerPort:80 Protocol:TCP HostIP:1.1.1.1}',
  ],
  [
    podKind,
    'spec/containers',
    [
      { name: 'c', ports: [{ ...port, name: 'n' }] },
      { name: 'd', ports: [{ containerPort: 81, name: 'n' }] },
    ],
    33,
    'spec.containers[1].ports[0]: duplicate port name "n" with spec.containers[0].ports[0], services and probes that select ports by name will use spec.containers[0].ports[0]',
  ],
  [
    podKind,
    'spec/terminationGracePeriodSeconds',
    -1,
    27,
    'spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1',
  ],
  [
    podKind,
    'spec/volumes',
    [{ name: 'v', ephemeral: { volumeClaimTemplate: { spec: claim } } }],
    26,
    `spec.volumes[0].ephemeral.volumeClaimTemplate.spec.resources.requests[storage]: ${fraction}`,
  ],
  [
    podKind,
    'metadata/name',
    longName,
    27,
    `metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; ${label}`,
  ],
  ...['apps/v1.Deployment', 'apps/v1.ReplicaSet', 'core/v1.ReplicationController', 'batch/v1.Job', 'batch/v1.CronJob'].map((type): Row => {
    const why = 'this is used in Pod names and hostnames, which can result in surprising behavior'
    return [type, 'metadata/name', longName, 27, `metadata.name: ${why}; ${label}`]
  }),
  [
    'apps/v1.StatefulSet',
    'spec/volumeClaimTemplates',
    [{ spec: claim }],
    26,
    `spec.volumeClaimTemplates[0].resources.requests[storage]: ${fraction}`,
  ],
  [
    'apps/v1.StatefulSet',
    'spec/revisionHistoryLimit',
    -1,
    33,
    'spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended',
  ],
  ['core/v1.PersistentVolumeClaim', 'spec', claim, 26, `spec.resources.requests[storage]: ${fraction}`],
  [
    'core/v1.PersistentVolumeClaim',
    'metadata/annotations',
    { 'volume.beta.kubernetes.io/storage-class': 'a' },
    28,
    'metadata.annotations[volume.beta.kubernetes.io/storage-class]: deprecated since v1.8; use "storageClassName" attribute instead',
  ],
  [
    'core/v1.PersistentVolume',
    'metadata/annotations',
    { 'volume.beta.kubernetes.io/mount-options': 'a' },
    31,
    'metadata.annotations[volume.beta.kubernetes.io/mount-options]: deprecated since v1.31; use "mountOptions" attribute instead',
  ],
  [
    'core/v1.PersistentVolume',
    'spec/persistentVolumeReclaimPolicy',
    'Recycle',
    30,
    'spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.',
  ],
  [
    'storage/v1.CSIDriver',
    'spec/tokenRequests',
    [{ audience: 'a' }],
    35,
    'spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of tokens in volume attributes',
  ],
  ...['ValidatingWebhookConfiguration', 'MutatingWebhookConfiguration'].map((kind): Row => {
    const rules = [{ apiGroups: ['authentication.k8s.io', ''], resources: ['tokenreviews', 'pods'], apiVersions: ['*'], operations: ['*'] }]
    const why = 'tokenreviews.authentication.k8s.io is excluded from admission webhooks; this rule will have no effect'
    return [`admissionregistration/v1.${kind}`, 'webhooks', [{ name: 'a.b.c', rules }], 37, `webhooks[0].rules[0]: ${why}`]
  }),
  [
    'admissionregistration/v1.ValidatingAdmissionPolicyBinding',
    'metadata/name',
    'x.static.k8s.io',
    36,
    'metadata.name: names ending with ".static.k8s.io" are reserved for static manifest-based configurations and cannot be managed via the API',
  ],
]

/** A kind of object, a field, and the warning about its value by level. */
const texts: readonly (readonly [type: string, path: string, value: unknown, byLevel: Readonly<Record<number, readonly string[]>>])[] = [
  [
    podKind,
    'spec/containers',
    [{ name: 'c', env: ['1', '2'].map((value) => ({ name: 'A', value })) }],
    {
      27: ['spec.containers[0].env[1].name: duplicate name "A"'],
      29: ['spec.containers[0].env[1]: hides previous definition of "A"'],
    },
  ],
  ['core/v1.Node', 'spec/configSource', {}, { 25: ['spec.configSource: deprecated in v1.22, support removal is planned in v1.23'] }],
  [
    'core/v1.Service',
    'spec/externalIPs',
    ['010.0.0.1'],
    {
      26: [],
      27: [
        'spec.externalIPs[0]: IP address was accepted, but will be invalid in a future Kubernetes release: ParseAddr("010.0.0.1"): IPv4 field has octet with leading zero',
      ],
    },
  ],
]

describe('levels of warnings', () => {
  test.each(texts)('%s: the warning about %s %j has the words of each level', (type, path, value, byLevel) => {
    for (const [level, expected] of Object.entries(byLevel))
      expect(of(type, withChange(baseOf(type), path, value), Number(level))).toEqual(expected)
  })

  test.each(rows)('%s: %s %j is warned about from 1.%d on', (type, path, value, since, warning) => {
    const object = withChange(baseOf(type), path, value)
    expect(of(type, object, since)).toContain(warning)
    expect(of(type, object, 37)).toEqual([warning])
    expect(of(type, object, since - 1)).not.toContain(warning)
  })

  test('an update of a driver with unchanged tokens, and of a workload with a long name, causes no warning', () => {
    const driver = { metadata: { name: 'x' }, spec: { tokenRequests: [{ audience: 'a' }] } }
    expect(of('storage/v1.CSIDriver', driver, 37, driver)).toEqual([])
    const named = withChange(deployment, 'metadata/name', longName)
    expect(of('apps/v1.Deployment', named, 37, named)).toEqual([])
  })

  test('an update of a StatefulSet reports its claims with the update’s path, as in kube-apiserver', () => {
    const set = { metadata: { name: 'x' }, spec: { volumeClaimTemplates: [{ spec: claim }] } }
    expect(of('apps/v1.StatefulSet', set, 37, set)).toEqual([`spec.volumeClaimTemplates[0].Spec.resources.requests[storage]: ${fraction}`])
  })
})
