import { describe, expect, test } from 'vitest'
import { namesOf } from '../../names.ts'
import type { Pod } from '../pods.ts'
import type { VolumeClaim } from '../stateful-set/claims.ts'
import { boundClaim, claimFor, unboundVolume, volumeFor } from './bind.ts'
import { type ClaimPlan, decideClaim } from './decide-claim.ts'
import { decideVolume, type VolumePlan } from './decide-volume.ts'
import { defaultClass, type StorageClass, type Volume, volumeNames } from './objects.ts'

const names = volumeNames(namesOf('kubernetes'))
const claimMetadata = { name: 'c', namespace: 'n', uid: 'cu', resourceVersion: '7' }
const reference = { kind: 'PersistentVolumeClaim', apiVersion: 'v1', name: 'c', namespace: 'n', uid: 'cu', resourceVersion: '7' }
const boundMark = { [names.bindCompleted]: 'yes' }

function aClaim(spec: Partial<VolumeClaim['spec']> = {}, annotations: Readonly<Record<string, string>> = {}): VolumeClaim {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { ...claimMetadata, annotations },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '2Gi' } }, storageClassName: 'k', ...spec },
    status: { phase: 'Pending' },
  }
}

function aVolume(spec: Partial<Volume['spec']> = {}, metadata: Volume['metadata'] = {}, phase = 'Available'): Volume {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: 'v', ...metadata },
    spec: {
      accessModes: ['ReadWriteOnce'],
      capacity: { storage: '2Gi' },
      storageClassName: 'k',
      persistentVolumeReclaimPolicy: 'Retain',
      ...spec,
    },
    status: { phase },
  }
}

function aClass(name: string, more: Partial<StorageClass> = {}): StorageClass {
  return { apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', metadata: { name }, provisioner: 'p.example.com', ...more }
}

function aPod(name: string, more: { readonly nodeName?: string; readonly phase?: string } = {}): Pod {
  const { nodeName, phase = 'Pending' } = more
  const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'c' } }]
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'n' },
    spec: { containers: [], volumes, ...(nodeName !== undefined && { nodeName }) },
    status: { phase },
  }
}

interface World {
  readonly volumes?: readonly Volume[]
  readonly classes?: readonly StorageClass[]
  readonly pods?: readonly Pod[]
  readonly level?: number
}

function decide(claim: VolumeClaim, { volumes = [], classes = [], pods = [], level = 37 }: World = {}): ClaimPlan {
  return decideClaim({
    claim,
    names,
    level,
    hasAttributeClasses: level >= 34,
    volumes: () => volumes,
    volumeNamed: (name) => volumes.find(({ metadata }) => metadata.name === name),
    classes: () => classes,
    classNamed: (name) => classes.find(({ metadata }) => metadata.name === name),
    pods: () => pods,
  })
}

/** The plan as text: the kind with its object, and the event. */
function printed(plan: ClaimPlan): string {
  const event = 'event' in plan && plan.event !== undefined ? `${plan.event.type} ${plan.event.reason} ${plan.event.message}` : undefined
  switch (plan.kind) {
    case 'bind':
      return `bind ${plan.volume.metadata.name}`
    case 'set class':
      return `class ${plan.storageClassName}`
    case 'provision':
      return `provision ${plan.provisioner}: ${event}`
    case 'wait':
      return event === undefined ? plan.phase : `${plan.phase}: ${event}`
    case 'event':
      return event ?? ''
  }
}

const other = { name: 'd', namespace: 'n', uid: 'du' }
const waiting = aClass('k', { volumeBindingMode: 'WaitForFirstConsumer' })
const selected = { [names.selectedNode]: 'node-a' }
const named = aClaim({ volumeName: 'v' })
const askedText =
  "Waiting for a volume to be created either by the external provisioner 'p.example.com' or manually by the system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered."

const claimRows: readonly [title: string, claim: VolumeClaim, world: World, expected: string][] = [
  [
    'WL-PV-02: a reserved volume comes before a smaller one',
    aClaim(),
    { volumes: [aVolume(), aVolume({ claimRef: { name: 'c', namespace: 'n' }, capacity: { storage: '9Gi' } }, { name: 'mine' })] },
    'bind mine',
  ],
  [
    'WL-PV-02: fewer access modes come before a smaller size',
    aClaim({ resources: { requests: { storage: '1Gi' } } }),
    { volumes: [aVolume({ accessModes: ['ReadWriteOnce', 'ReadOnlyMany'], capacity: { storage: '1Gi' } }), aVolume({}, { name: 'w' })] },
    'bind w',
  ],
  [
    'WL-PV-02: attribute classes must be equal',
    aClaim({ volumeAttributesClassName: 'gold' }),
    { volumes: [aVolume(), aVolume({ volumeAttributesClassName: 'gold' }, { name: 'w' })] },
    'bind w',
  ],
  [
    'WL-PV-02: access modes must be contained',
    aClaim({ accessModes: ['ReadWriteMany'] }),
    { volumes: [aVolume()], classes: [aClass('k')] },
    `provision p.example.com: Normal ExternalProvisioning ${askedText}`,
  ],
  ['WL-PV-05: a named volume that does not exist is waited for', named, {}, 'Pending'],
  ['WL-PV-05: a named volume that fits is bound', named, { volumes: [aVolume()] }, 'bind v'],
  [
    'WL-PV-05: a named volume of another class is not',
    named,
    { volumes: [aVolume({ storageClassName: 'other' })] },
    'Pending: Warning VolumeMismatch Cannot bind to requested volume "v": storageClassName does not match',
  ],
  [
    'WL-PV-05: a named volume of other access modes is not',
    named,
    { volumes: [aVolume({ accessModes: ['ReadOnlyMany'] })] },
    'Pending: Warning VolumeMismatch Cannot bind to requested volume "v": incompatible accessMode',
  ],
  [
    'WL-PV-05: a named volume of another mode is not',
    named,
    { volumes: [aVolume({ volumeMode: 'Block' })] },
    'Pending: Warning VolumeMismatch Cannot bind to requested volume "v": incompatible volumeMode',
  ],
  [
    'WL-PV-05: a named volume that ends is not',
    named,
    { volumes: [aVolume({}, { deletionTimestamp: '2026-01-01T00:00:00Z' })] },
    'Pending: Warning VolumeMismatch Cannot bind to requested volume "v": the volume is marked for deletion "v"',
  ],
  [
    'WL-PV-05: a named volume of another claim is waited for',
    named,
    { volumes: [aVolume({ claimRef: other })] },
    'Pending: Warning FailedBinding volume "v" already bound to a different claim.',
  ],
  [
    'WL-PV-06, NODE-VOL-01: without class and volume there is an event',
    aClaim({ storageClassName: '' }),
    {},
    'Pending: Normal FailedBinding no persistent volumes available for this claim and no storage class is set',
  ],
  ['WL-PV-06: an unknown class is told', aClaim(), {}, 'Warning ProvisioningFailed storageclass.storage.k8s.io "k" not found'],
  [
    'WL-PV-07: a claim that says nothing gets the default class',
    aClaim({ storageClassName: undefined }),
    { classes: [aClass('d', { metadata: { name: 'd', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } } })] },
    'class d',
  ],
  [
    'WL-PV-07: below 1.26 it does not',
    aClaim({ storageClassName: undefined }),
    {
      level: 25,
      classes: [aClass('d', { metadata: { name: 'd', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } } })],
    },
    'Pending: Normal FailedBinding no persistent volumes available for this claim and no storage class is set',
  ],
  [
    'WL-PV-08: a bound claim without its volume is lost',
    aClaim({ volumeName: 'v' }, boundMark),
    {},
    'Lost: Warning ClaimLost Bound claim has lost its PersistentVolume. Data on the volume is lost!',
  ],
  [
    'WL-PV-08: a bound claim that names none is lost',
    aClaim({}, boundMark),
    {},
    'Lost: Warning ClaimLost Bound claim has lost reference to PersistentVolume. Data on the volume is lost!',
  ],
  [
    'WL-PV-08: a bound claim whose volume is of another is lost',
    aClaim({ volumeName: 'v' }, boundMark),
    { volumes: [aVolume({ claimRef: other })] },
    'Lost: Warning ClaimMisbound Two claims are bound to the same volume, this one is bound incorrectly',
  ],
  [
    'WL-PV-12: below 1.28 the text is another',
    aClaim(),
    { level: 27, classes: [aClass('k')] },
    'provision p.example.com: Normal ExternalProvisioning waiting for a volume to be created, either by external provisioner "p.example.com" or manually created by system administrator',
  ],
  [
    'WL-PV-12: a driver takes the place of a former part',
    aClaim(),
    { classes: [aClass('k', { provisioner: 'kubernetes.io/gce-pd' })] },
    `provision pd.csi.storage.gke.io: Normal ExternalProvisioning ${askedText.replace('p.example.com', 'pd.csi.storage.gke.io')}`,
  ],
  [
    'WL-PV-13, NODE-VOL-02: a claim waits for its first consumer',
    aClaim(),
    { classes: [waiting], volumes: [aVolume()] },
    'Pending: Normal WaitForFirstConsumer waiting for first consumer to be created before binding',
  ],
  [
    'WL-PV-13, NODE-VOL-02: Pods without a node are named',
    aClaim(),
    { classes: [waiting], pods: [aPod('a'), aPod('b'), aPod('c', { nodeName: 'x' }), aPod('d', { phase: 'Failed' })] },
    'Pending: Normal WaitForPodScheduled waiting for pods a,b to be scheduled',
  ],
  [
    'WL-PV-13: a reserved volume is bound without a consumer',
    aClaim(),
    { classes: [waiting], volumes: [aVolume({ claimRef: { name: 'c', namespace: 'n' } })] },
    'bind v',
  ],
  [
    'WL-PV-13: with a node a volume is asked for',
    aClaim({}, selected),
    { classes: [waiting] },
    `provision p.example.com: Normal ExternalProvisioning ${askedText}`,
  ],
  [
    'WL-PV-14: no plugin makes volumes',
    aClaim(),
    { classes: [aClass('k', { provisioner: 'kubernetes.io/no-provisioner' })] },
    'Warning ProvisioningFailed no volume plugin matched name: kubernetes.io/no-provisioner',
  ],
  [
    'WL-PV-14: volumes of directories are not made',
    aClaim(),
    { classes: [aClass('k', { provisioner: 'kubernetes.io/host-path' })] },
    'provision kubernetes.io/host-path: Warning ProvisioningFailed Failed to create provisioner: provisioning in volume plugin "kubernetes.io/host-path" is disabled',
  ],
]

describe('the next step of a claim', () => {
  test.each(claimRows)('%s', (_, claim, world, expected) => {
    expect(printed(decide(claim, world))).toBe(expected)
  })
})

function printedVolumePlan(plan: VolumePlan): string {
  switch (plan.kind) {
    case 'phase':
      return plan.phase
    case 'release':
      return plan.next.kind === 'fail' ? `fail ${plan.next.event.reason} ${plan.next.event.message}` : plan.next.kind
    case 'mismatch':
      return `${plan.ofVolume.message} / ${plan.ofClaim.message}`
    default:
      return plan.kind
  }
}

const mine = { claimRef: reference }
const deleted = { ...mine, persistentVolumeReclaimPolicy: 'Delete' }
const provisioned = { annotations: { 'pv.kubernetes.io/provisioned-by': 'p.example.com' } }

const volumeRows: readonly [title: string, volume: Volume, claim: VolumeClaim | undefined, expected: string][] = [
  ['WL-PV-01: a volume without a claim is available', aVolume(), undefined, 'Available'],
  ['WL-PV-01: so is one that is reserved by name', aVolume({ claimRef: { name: 'c', namespace: 'n' } }), aClaim(), 'Available'],
  ['WL-PV-20: so is one whose reference was removed', aVolume({}, {}, 'Released'), undefined, 'Available'],
  ['WL-PV-03: a volume that its claim names is bound', aVolume(mine), aClaim({ volumeName: 'v' }), 'Bound'],
  ['WL-PV-03: a claim that does not name it yet is looked at', aVolume(mine), aClaim(), 'complete'],
  [
    'WL-PV-05: modes that differ are told on both',
    aVolume({ ...mine, volumeMode: 'Block' }),
    aClaim(),
    'Cannot bind PersistentVolume to requested PersistentVolumeClaim "c" due to incompatible volumeMode. / Cannot bind PersistentVolume "v" to requested PersistentVolumeClaim due to incompatible volumeMode.',
  ],
  ['WL-PV-09: a volume whose claim has another is let go', aVolume(mine), aClaim({ volumeName: 'w' }), 'unbind'],
  ['WL-PV-09: one that was made for it is released', aVolume(deleted, provisioned), aClaim({ volumeName: 'w' }), 'keep'],
  ['WL-PV-17: policy Retain keeps a volume', aVolume(mine), undefined, 'keep'],
  [
    'WL-PV-18: a volume of a driver is left to its provisioner',
    aVolume({ ...deleted, csi: { driver: 'd', volumeHandle: 'h' } }),
    undefined,
    'keep',
  ],
  ['WL-PV-18: so is one that a provisioner made', aVolume({ ...deleted, hostPath: { path: '/x' } }, provisioned), undefined, 'keep'],
  ['WL-PV-18: a directory for tests is deleted', aVolume({ ...deleted, hostPath: { path: '/tmp/x' } }), undefined, 'delete'],
  [
    'WL-PV-18: another directory is not',
    aVolume({ ...deleted, hostPath: { path: '/x' } }),
    undefined,
    'fail VolumeFailedDelete host_path deleter only supports /tmp/.+ but received provided /x',
  ],
  [
    'WL-PV-18: no plugin deletes NFS',
    aVolume({ ...deleted, nfs: { server: 's', path: '/' } }),
    undefined,
    'fail VolumeFailedDelete error getting deleter volume plugin for volume "v": no deletable volume plugin matched',
  ],
  [
    'WL-PV-18: nor local volumes',
    aVolume({ ...deleted, local: { path: '/x' } }),
    undefined,
    'fail VolumeFailedDelete error getting deleter volume plugin for volume "v": no volume plugin matched',
  ],
  [
    'WL-PV-19: policy Recycle fails',
    aVolume({ ...mine, persistentVolumeReclaimPolicy: 'Recycle' }),
    undefined,
    'fail VolumeFailedRecycle No recycler plugin found for the volume!',
  ],
]

describe('the next step of a volume', () => {
  test.each(volumeRows)('%s', (_, volume, claim, expected) => {
    expect(printedVolumePlan(decideVolume(volume, claim, { names, level: 37 }))).toBe(expected)
  })
})

describe('a binding', () => {
  test('WL-PV-03: refers to the claim, and marks both sides that the controller chose', () => {
    const [volume, claim] = [aVolume(), aClaim()]
    const reserved = volumeFor(volume, claim, names)
    expect(reserved).toMatchObject({ metadata: { annotations: { [names.boundByController]: 'yes' } }, spec: { claimRef: reference } })
    const bound = claimFor(claim, volume, names)
    expect(bound.metadata.annotations).toEqual({ [names.boundByController]: 'yes', [names.bindCompleted]: 'yes' })
    expect(bound.spec.volumeName).toBe('v')
    expect(claimFor(bound, volume, names)).toBe(bound)
    expect(volumeFor(reserved, claim, names)).toBe(reserved)
  })

  test('WL-PV-04: has no mark on the side that the user bound', () => {
    const reserved = volumeFor(aVolume({ claimRef: { name: 'c', namespace: 'n' } }), aClaim(), names)
    expect([reserved.metadata.annotations, reserved.spec.claimRef?.uid]).toEqual([undefined, 'cu'])
    expect(claimFor(aClaim({ volumeName: 'v' }), aVolume(), names).metadata.annotations).toEqual(boundMark)
  })

  test('WL-PV-03: copies the volume’s properties into the status once, when it is bound', () => {
    const options = { names, hasAttributeClasses: true }
    const bound = boundClaim(aClaim(), aVolume({ volumeAttributesClassName: 'gold' }), options)
    const status = {
      phase: 'Bound',
      accessModes: ['ReadWriteOnce'],
      capacity: { storage: '2Gi' },
      currentVolumeAttributesClassName: 'gold',
    }
    expect(bound.status).toEqual(status)
    expect(boundClaim(bound, aVolume({ capacity: { storage: '5Gi' }, volumeAttributesClassName: 'silver' }), options)).toBe(bound)
  })

  test('WL-PV-09: is removed from the volume, and a reference by a user is kept without its uid', () => {
    const chosen = volumeFor(aVolume(), aClaim(), names)
    expect(unboundVolume(chosen, names)).toMatchObject({ metadata: { annotations: {} }, spec: { storageClassName: 'k' } })
    expect(unboundVolume(chosen, names).spec.claimRef).toBeUndefined()
    expect(unboundVolume(aVolume(mine), names).spec.claimRef).toEqual({ ...reference, uid: '' })
  })
})

test('WL-PV-07: of several default classes the newest is used, then the first by name', () => {
  const marked = (name: string, creationTimestamp: string) =>
    aClass(name, { metadata: { name, creationTimestamp, annotations: { 'storageclass.beta.kubernetes.io/is-default-class': 'true' } } })
  const classes = [marked('old', '2026-01-01T00:00:00Z'), marked('b', '2026-01-02T00:00:00Z'), marked('a', '2026-01-02T00:00:00Z')]
  expect(defaultClass([aClass('none'), ...classes], names)?.metadata.name).toBe('a')
  expect(defaultClass([aClass('none')], names)).toBeUndefined()
})
