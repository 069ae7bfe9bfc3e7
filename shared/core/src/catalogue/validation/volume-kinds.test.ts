import { expect, test } from 'vitest'
import { type Body, problemsOf, withChange } from '../testing/rules-testing.ts'

type Row = readonly [title: string, source: Body, ...problems: string[]]

const inPod = (source: Body, volume = 'v', pod = 'a'): string[] =>
  problemsOf('core/v1.Pod', {
    metadata: { name: pod, namespace: 'n' },
    spec: { containers: [{ name: 'c', image: 'i' }], volumes: [{ name: volume, ...source }] },
  })

const at = 'spec.volumes[0]'
const iscsi = (iqn: string, more: Body = {}): Body => ({ iscsi: { targetPortal: '1.2.3.4', lun: 0, iqn, ...more } })
const azure = (uri: string, kind: string): Body => ({ azureDisk: { diskName: 'd', diskURI: uri, kind } })
const quobyte = (registry: string, tenant = ''): Body => ({ quobyte: { registry, volume: 'v', tenant } })
const registryRule = 'must be a host:port pair or multiple pairs separated by commas'
const managed = '/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}'
const blob = 'https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd'
const noLabel =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
const noSubdomain =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"

const inPods: readonly Row[] = [
  ['an iqn', iscsi('iqn.2001-04.Example.com:disk')],
  [
    'an iqn without its part after the colon',
    iscsi('iqn.2001-04.com'),
    `${at}.iscsi.iqn: Invalid value: "iqn.2001-04.com": must be valid format`,
  ],
  ['an eui of letters', iscsi('eui.zz23456789abcdef')],
  ['an naa of 16', iscsi('naa.0123456789abcdef'), `${at}.iscsi.iqn: Invalid value: "naa.0123456789abcdef": must be valid format`],
  ['another beginning', iscsi('x'), `${at}.iscsi.iqn: Invalid value: "x": must be valid format starting with iqn, eui, or naa`],
  [
    'an empty initiator',
    iscsi('eui.0123456789abcdef', { initiatorName: '' }),
    `${at}.iscsi.initiatorname: Invalid value: "": must be valid format starting with iqn, eui, or naa`,
  ],
  ['a secret without a name in a Pod', iscsi('eui.0123456789abcdef', { secretRef: {} })],
  [
    'a managed disk elsewhere',
    azure('https://x', 'Managed'),
    `${at}.azureDisk.diskURI: Unsupported value: "https://x": supported values: "${managed}"`,
  ],
  ['a shared disk elsewhere', azure('/x', 'Shared'), `${at}.azureDisk.diskURI: Unsupported value: "/x": supported values: "${blob}"`],
  ['registries with named and empty ports', quobyte('a:http,b:,:1,[::1]:2')],
  ['a registry without a port', quobyte('a'), `${at}.quobyte.registry: Invalid value: "a": ${registryRule}`],
  ['two registries without ports', quobyte('a,b'), `${at}.quobyte.registry: Invalid value: "a,b": ${registryRule}`],
  ['a registry of two colons', quobyte('a:b:c'), `${at}.quobyte.registry: Invalid value: "a:b:c": ${registryRule}`],
  [
    'a long tenant beside a wrong registry',
    quobyte('a', 'x'.repeat(65)),
    `${at}.quobyte.tenant: Required value: must be a UUID and may not exceed a length of 64 characters`,
  ],
  ['a StorageOS volume', { storageos: { volumeName: 'A' } }, `${at}.storageos.volumeName: Invalid value: "A": ${noLabel}`],
  [
    'a StorageOS namespace',
    { storageos: { volumeName: 'a', volumeNamespace: 'B' } },
    `${at}.storageos.volumeNamespace: Invalid value: "B": ${noLabel}`,
  ],
  [
    "a driver's secret",
    { csi: { driver: 'd', nodePublishSecretRef: { name: 'S' } } },
    `${at}.csi.nodePublishSecretRef.name: Invalid value: "S": ${noSubdomain}`,
  ],
  [
    'an option in a reserved namespace, in any case',
    { flexVolume: { driver: 'd', options: { 'X.Kubernetes.io/a': 'b' } } },
    expect.stringMatching(/^spec\.volumes\[0\]\.flexVolume\.options\[X\.Kubernetes\.io\/a\]: .*namespaces are reserved$/),
  ],
]

test.each(inPods.map(([title, source, ...problems]) => ({ title, source, problems })))(
  'a volume of a Pod has the expected errors: $title',
  ({ source, problems }) => {
    expect(inPod(source)).toEqual(problems)
  },
)

const claimSpec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }
const ephemeral = (spec: Body): Body => ({ ephemeral: { volumeClaimTemplate: { spec } } })

test('the claim of an ephemeral volume has a valid name', () => {
  const pod = 'a'.repeat(251)
  expect(inPod(ephemeral(claimSpec), 'vv', pod)).toEqual([
    `${at}.name: Invalid value: "vv": PVC name "${pod}-vv": must be no more than 253 characters`,
  ])
  expect(inPod(ephemeral(claimSpec), 'vv', pod.slice(1))).toEqual([])
})

test('two data sources in a template must be equal; one alone is enough', () => {
  const one = { kind: 'PersistentVolumeClaim', name: 'a' }
  const path = `${at}.ephemeral.volumeClaimTemplate.spec`
  expect(inPod(ephemeral({ ...claimSpec, dataSource: one }))).toEqual([])
  expect(inPod(ephemeral({ ...claimSpec, dataSource: one, dataSourceRef: { ...one, name: 'b' } }))).toEqual([
    `${path}: Invalid value: "${path}.dataSource": must match dataSourceRef`,
  ])
})

const volumeOf = (source: Body): Body => ({
  metadata: { name: 'a' },
  spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], ...source },
})
const driver = (secret: Body): Body => ({ csi: { driver: 'd', volumeHandle: 'h', nodePublishSecretRef: secret } })

const alone: readonly Row[] = [
  [
    'a secret with a long name',
    driver({ name: 'a.b', namespace: 'n' }),
    `spec.csi.nodePublishSecretRef.name: Invalid value: "a.b": ${noLabel}`,
  ],
  [
    'a secret in no namespace that can be',
    driver({ name: 'a', namespace: 'n.m' }),
    `spec.csi.nodePublishSecretRef.namespace: Invalid value: "n.m": ${noLabel}`,
  ],
  ['an iSCSI secret without a name', iscsi('eui.0123456789abcdef', { secretRef: {} }), 'spec.iscsi.secretRef.name: Required value'],
  ['endpoints in a namespace', { glusterfs: { endpoints: 'e', path: 'p', endpointsNamespace: 'n' } }],
  [
    'endpoints in an empty namespace',
    { glusterfs: { endpoints: 'e', path: 'p', endpointsNamespace: '' } },
    'spec.glusterfs.endpointsNamespace: Invalid value: "": if the endpointnamespace is set, it must be a valid namespace name',
  ],
  [
    'endpoints in a namespace that cannot be',
    { glusterfs: { endpoints: 'e', path: 'p', endpointsNamespace: 'N' } },
    `spec.glusterfs.endpointsNamespace: Invalid value: "N": ${noLabel}`,
  ],
  ['a StorageOS volume', { storageos: { volumeName: 'A' } }, `spec.storageos.volumeName: Invalid value: "A": ${noLabel}`],
]

test.each(alone.map(([title, source, ...problems]) => ({ title, source, problems })))(
  'a PersistentVolume has the expected errors: $title',
  ({ source, problems }) => {
    expect(problemsOf('core/v1.PersistentVolume', volumeOf(source))).toEqual(problems)
  },
)

test('a stored PersistentVolume with a long secret name can be written again', () => {
  const stored = volumeOf(driver({ name: 'a.b', namespace: 'n' }))
  expect(problemsOf('core/v1.PersistentVolume', stored, { live: stored })).toEqual([])
})

const annotation = 'volume.beta.orch.io/storage-class'
const claim = (storageClassName: string | undefined, annotated: string | undefined): Body => ({
  metadata: { name: 'a', namespace: 'n', annotations: annotated === undefined ? {} : { [annotation]: annotated } },
  spec: { ...claimSpec, ...(storageClassName === undefined ? {} : { storageClassName }) },
})
const specStays = 'spec: Forbidden: spec is immutable after creation except resources.requests for bound claims'
const annotationStays = (value: string): string => `metadata.annotations.${annotation}: Invalid value: "${value}": field is immutable`

test('LIM-12: an iqn with many beginnings is checked in linear time', () => {
  const spec = { containers: [{ name: 'c', image: 'i' }], volumes: [{ name: 'v', ...iscsi('iqn.2001-04.'.repeat(250_000)) }] }
  expect(problemsOf('core/v1.Pod', { metadata: { name: 'p' }, spec }).filter((text) => text.includes('.iqn: '))).toHaveLength(1)
})

test.each([
  { title: 'the field repeats the annotation', before: claim(undefined, 'x'), after: claim('x', 'x'), problems: [] },
  { title: 'the field replaces the annotation', before: claim(undefined, 'x'), after: claim('x', undefined), problems: [] },
  { title: 'the field says another class', before: claim(undefined, 'x'), after: claim('y', 'x'), problems: [specStays] },
  {
    title: 'the annotation says another class',
    before: claim(undefined, 'x'),
    after: claim('x', 'y'),
    problems: [annotationStays('y'), specStays],
  },
  { title: 'there was a class', before: claim('z', 'x'), after: claim('x', 'x'), problems: [specStays] },
  { title: 'there was none', before: claim(undefined, undefined), after: claim('x', undefined), problems: [specStays] },
  { title: 'the annotation goes', before: claim(undefined, 'x'), after: claim(undefined, undefined), problems: [annotationStays('')] },
])('the class of a claim may move from the annotation to the field: $title', ({ before, after, problems }) => {
  expect(problemsOf('core/v1.PersistentVolumeClaim', after, { live: before })).toEqual(problems)
})

const balancer: Body = {
  metadata: { name: 'a', namespace: 'n' },
  spec: { type: 'LoadBalancer', ports: [{ port: 1 }], externalTrafficPolicy: 'Local', healthCheckNodePort: 30_001 },
}

test('the health check port is immutable while the Service needs it', () => {
  const moved = withChange(balancer, 'spec/healthCheckNodePort', 30_002)
  expect(problemsOf('core/v1.Service', moved, { live: balancer })).toEqual(['spec.healthCheckNodePort: Forbidden: field is immutable'])
  expect(problemsOf('core/v1.Service', balancer, { live: balancer })).toEqual([])
  const cluster = withChange(withChange(balancer, 'spec/externalTrafficPolicy', 'Cluster'), 'spec/healthCheckNodePort', undefined)
  expect(problemsOf('core/v1.Service', balancer, { live: cluster })).toEqual([])
})

test('the internal traffic policy is Cluster or Local', () => {
  expect(problemsOf('core/v1.Service', withChange(balancer, 'spec/internalTrafficPolicy', 'X'))).toEqual([
    'spec.internalTrafficPolicy: Unsupported value: "X": supported values: "Cluster", "Local"',
  ])
})

test.each([
  { title: 'ranges', type: 'LoadBalancer', text: ' 10.0.0.0/8, 11.0.0.0/8', problems: [] },
  { title: 'nothing', type: 'LoadBalancer', text: ' ', problems: [] },
  {
    title: 'an address',
    type: 'LoadBalancer',
    text: '10.0.0.1',
    problems: ['Invalid value: "10.0.0.1": must be a list of IP ranges. For example, 10.240.0.0/24,10.250.0.0/24 '],
  },
  {
    title: 'ranges without a balancer',
    type: 'ClusterIP',
    text: '10.0.0.0/8',
    problems: ["Forbidden: may only be used when `type` is 'LoadBalancer'"],
  },
])('the source ranges annotation with $title has the expected errors', ({ type, text, problems }) => {
  const key = 'service.beta.orch.io/load-balancer-source-ranges'
  const service = { metadata: { name: 'a', namespace: 'n', annotations: { [key]: text } }, spec: { type, ports: [{ port: 1 }] } }
  expect(problemsOf('core/v1.Service', service)).toEqual(problems.map((problem) => `metadata.annotations[${key}]: ${problem}`))
})
