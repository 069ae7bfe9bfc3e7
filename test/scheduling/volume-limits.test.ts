import { startFilter } from '@orch/core/scheduling'
import { expect, test } from 'vitest'
import { type CaseObjects, clusterOf, rulesAt, toAnswer } from './cases/case.ts'

const driver = 'csi.example.com'
const claim = (name: string, volumeName?: string) => ({
  metadata: { name, namespace: 'default' },
  spec: { storageClassName: 'made', resources: {}, ...(volumeName && { volumeName }) },
})
const volume = (name: string) => ({ metadata: { name }, spec: { csi: { driver, volumeHandle: `handle-${name}` } } })
const podWith = (name: string, nodeName: string | undefined, ...claims: readonly string[]) => ({
  metadata: { name, namespace: 'default' },
  spec: {
    containers: [],
    ...(nodeName && { nodeName }),
    volumes: claims.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } })),
  },
})

/** A node with a limit of attached volumes, and a Pod that uses the claim a. */
const objects = (count: number | undefined, ...claims: readonly string[]): CaseObjects => ({
  pod: podWith('new', undefined, ...claims),
  nodes: [{ metadata: { name: 'n' } }],
  pods: [podWith('old', 'n', 'a')],
  persistentVolumeClaims: [claim('a', 'a'), claim('b', 'b'), claim('unbound')],
  persistentVolumes: [volume('a'), volume('b')],
  storageClasses: [{ apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', metadata: { name: 'made' }, provisioner: driver }],
  csiNodes: [
    {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'CSINode',
      metadata: { name: 'n' },
      spec: { drivers: [{ name: driver, nodeID: 'n', topologyKeys: [], ...(count !== undefined && { allocatable: { count } }) }] },
      status: {},
    },
  ],
})

const attached = (volumeName: string, nodeName = 'n', attacher = driver) => ({
  ...{ apiVersion: 'storage.k8s.io/v1', kind: 'VolumeAttachment', metadata: { name: `${attacher}-${volumeName}` } },
  ...{ spec: { attacher, nodeName, source: { persistentVolumeName: volumeName } }, status: { attached: true } },
})
const withAttachment = (row: CaseObjects, ...attachments: ReturnType<typeof attached>[]): CaseObjects => ({ ...row, attachments })

test.each([
  ['a node with room', objects(2, 'b'), 'Success'],
  ['a volume that is attached without a Pod', withAttachment(objects(2, 'unbound'), attached('b')), 'Unschedulable'],
  ['an attached volume of a Pod', withAttachment(objects(2, 'b'), attached('a')), 'Success'],
  ['a volume that is attached elsewhere', withAttachment(objects(2, 'unbound'), attached('b', 'other')), 'Success'],
  ['a volume that another driver attached', withAttachment(objects(2, 'unbound'), attached('b', 'n', 'other')), 'Success'],
  ['an attachment without its volume', withAttachment(objects(2, 'unbound'), attached('gone')), 'Success'],
  ['a node with as many volumes as it may have', objects(1, 'b'), 'Unschedulable'],
  ['a volume that is on the node already', objects(1, 'a'), 'Success'],
  ['a claim whose volume is to be made', objects(1, 'unbound'), 'Unschedulable'],
  ['two claims where there is room for one', objects(2, 'b', 'unbound'), 'Unschedulable'],
  ['a driver without a limit', objects(undefined, 'b'), 'Success'],
])('SCHED-38: the limit of attached volumes decides about %s', (_what, row, expected) => {
  const { cluster, pod } = clusterOf(row)
  const start = startFilter('NodeVolumeLimits', pod, cluster, rulesAt(37))
  const node = cluster.node('n')
  const refusal = start?.kind === 'run' && node !== undefined ? start.run.filter(node) : undefined
  expect(toAnswer(refusal)).toEqual(
    expected === 'Success' ? { code: 'Success' } : { code: expected, reasons: ['node(s) exceed max volume count'] },
  )
})

test.each([
  [25, 'node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode'],
  [37, 'node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod'],
])('SCHED-37: at level %i a ReadWriteOncePod claim in use is refused in the words of its release', (level, reason) => {
  const row = objects(undefined, 'a')
  const [first, ...others] = row.persistentVolumeClaims ?? []
  const ofOnePod = { ...first, spec: { ...claim('a', 'a').spec, accessModes: ['ReadWriteOncePod'] } }
  const { cluster, pod } = clusterOf({ ...row, persistentVolumeClaims: [ofOnePod, ...others] })
  const start = startFilter('VolumeRestrictions', pod, cluster, { ...rulesAt(level), hasClaimsOfOnePod: true })
  const node = cluster.node('n')
  expect(toAnswer(start?.kind === 'run' && node !== undefined ? start.run.filter(node) : undefined)).toMatchObject({ reasons: [reason] })
})
