import type { ObjectMeta } from '../../meta/object-meta.ts'
import { domainGroup, type Names, subdomainLabel } from '../../names.ts'
import type { BuiltIn } from '../../schema/built-in.ts'
import type { Node } from '../pods.ts'
import type { VolumeClaim } from '../stateful-set/claims.ts'
import { type StorageClass, type Volume, volumeNames } from './objects.ts'

type Driver = BuiltIn<'storage/v1.CSIDriver'>
type Topologies = NonNullable<StorageClass['allowedTopologies']>
type Expressions = { readonly key: string; readonly operator: 'In'; readonly values: string[] }[]

/** The driver and the default class of simulated nodes: volumes are created for the node of the first consumer, and can be expanded (NODE-VOL-04, NODE-VOL-09). */
export function simulatedStorage(names: Names): readonly [Driver, StorageClass] {
  const apiVersion = `${domainGroup(names, 'storage')}/v1`
  const driver: Driver = { apiVersion, kind: 'CSIDriver', metadata: { name: names.simulatedDriver }, spec: { attachRequired: true } }
  const annotations = { [subdomainLabel(names, 'storageclass', 'is-default-class')]: 'true' }
  const storageClass: StorageClass = {
    apiVersion,
    kind: 'StorageClass',
    metadata: { name: 'standard', annotations },
    provisioner: names.simulatedDriver,
    reclaimPolicy: 'Delete',
    volumeBindingMode: 'WaitForFirstConsumer',
    allowVolumeExpansion: true,
  }
  return [driver, storageClass]
}

/** The finalizer with which a provisioner keeps a volume until the storage is deleted. */
export function provisionerFinalizer(names: Names): string {
  return subdomainLabel(names, 'external-provisioner.volume', 'finalizer')
}

export interface ProvisionRequest {
  readonly claim: VolumeClaim
  readonly storageClass: StorageClass
  /** The node of the first consumer; undefined if volumes are provisioned immediately. */
  readonly node?: Node | undefined
  readonly names: Names
}

export type Provisioned =
  | { readonly kind: 'volume'; readonly volume: Volume }
  /** `isOfNode`: another node may succeed. */
  | { readonly kind: 'failed'; readonly message: string; readonly isOfNode: boolean }

/** The volume that the simulated provisioner creates for a claim: of the requested size, and accessible from where the class allows. */
export function provisionVolume({ claim, storageClass, node, names }: ProvisionRequest): Provisioned {
  const { name = '', namespace, uid = '', resourceVersion } = claim.metadata
  const failed = (why: string, isOfNode = false): Provisioned => {
    const message = `failed to provision volume with StorageClass ${JSON.stringify(storageClass.metadata.name)}: ${why}`
    return { kind: 'failed', message, isOfNode }
  }
  if (claim.spec.selector != null) return failed('claim Selector is not supported')
  const terms = topologyTerms(storageClass.allowedTopologies ?? [], node?.metadata)
  if (terms === undefined)
    return failed(`the selected node ${JSON.stringify(node?.metadata.name)} is in none of the allowed topologies`, true)
  const { accessModes, volumeMode, volumeAttributesClassName, resources } = claim.spec
  const { reclaimPolicy, mountOptions, parameters } = storageClass
  const isDeleted = reclaimPolicy === 'Delete'
  const volume: Volume = {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: {
      name: `pvc-${uid}`,
      annotations: { [volumeNames(names).provisionedBy]: names.simulatedDriver },
      ...(isDeleted && { finalizers: [provisionerFinalizer(names)] }),
    },
    spec: {
      capacity: { storage: resources?.requests?.['storage'] ?? '' },
      accessModes,
      volumeMode,
      volumeAttributesClassName,
      mountOptions,
      persistentVolumeReclaimPolicy: reclaimPolicy,
      storageClassName: storageClass.metadata.name,
      claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name, uid, resourceVersion },
      csi: {
        driver: names.simulatedDriver,
        volumeHandle: `pvc-${uid}`,
        ...(parameters != null && { volumeAttributes: parameters }),
      },
      ...(terms.length > 0 && { nodeAffinity: { required: { nodeSelectorTerms: terms } } }),
    },
    status: {},
  }
  return { kind: 'volume', volume }
}

/** The node selector terms for access to a volume; empty for all nodes. Undefined if the given node is excluded. */
function topologyTerms(topologies: Topologies, node: ObjectMeta | undefined): { readonly matchExpressions: Expressions }[] | undefined {
  const terms = topologies.map(({ matchLabelExpressions }) => ({
    matchExpressions: (matchLabelExpressions ?? []).map(({ key, values }) => ({
      key,
      operator: 'In' as const,
      values: [...(values ?? [])],
    })),
  }))
  if (node === undefined || terms.length === 0) return terms
  const labelOf = (key: string) => node.labels?.[key] ?? ''
  const term = terms.find(({ matchExpressions }) => matchExpressions.every(({ key, values }) => values.includes(labelOf(key))))
  return term && [{ matchExpressions: term.matchExpressions.map((one) => ({ ...one, values: [labelOf(one.key)] })) }]
}
