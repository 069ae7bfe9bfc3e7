import { compareQuantities, type ObjectMeta, parseQuantity, type Quantity, zeroQuantity } from '../../meta/index.ts'
import { domainGroup, domainLabel, type Names, subdomainLabel } from '../../names.ts'
import type { BuiltIn } from '../../schema/built-in.ts'
import type { VolumeClaim } from '../stateful-set/claims.ts'

/** A volume, a storage class and a driver as controllers see them. */
export type Volume = BuiltIn<'core/v1.PersistentVolume'>
export type StorageClass = BuiltIn<'storage/v1.StorageClass'>

/** Annotations and other names in the product's domain. */
export type VolumeNames = ReturnType<typeof volumeNames>

export function volumeNames(names: Names) {
  return {
    /** On a claim: it was bound once. */
    bindCompleted: subdomainLabel(names, 'pv', 'bind-completed'),
    /** On a claim or volume: the controller chose its counterpart. */
    boundByController: subdomainLabel(names, 'pv', 'bound-by-controller'),
    /** On a claim: the node of its first consumer. */
    selectedNode: subdomainLabel(names, 'volume', 'selected-node'),
    /** On a volume: the provisioner that created it. */
    provisionedBy: subdomainLabel(names, 'pv', 'provisioned-by'),
    /** On a volume: the driver that replaces the provisioner. */
    migratedTo: subdomainLabel(names, 'pv', 'migrated-to'),
    /** On a claim: the provisioner of its volume, under two names. */
    provisioner: subdomainLabel(names, 'volume', 'storage-provisioner'),
    betaProvisioner: subdomainLabel(names, 'volume.beta', 'storage-provisioner'),
    /** The annotation of claims and volumes for their class, which is older than the field. */
    oldClass: subdomainLabel(names, 'volume.beta', 'storage-class'),
    /** On a class: it is the default class. */
    defaultMarks: [
      subdomainLabel(names, 'storageclass', 'is-default-class'),
      subdomainLabel(names, 'storageclass.beta', 'is-default-class'),
    ],
    /** On an expanded volume: the current size of its filesystem. */
    sizeBeforeResize: subdomainLabel(names, 'volume.alpha', 'pre-resize-capacity'),
    /** The prefix of the names of built-in provisioners. */
    builtInPrefix: domainLabel(names, ''),
    classResource: `storageclass.${domainGroup(names, 'storage')}`,
  }
}

/** The class of a claim or volume; empty if it has none. */
export function classOf({ metadata, spec }: VolumeClaim | Volume, { oldClass }: VolumeNames): string {
  return metadata.annotations?.[oldClass] ?? spec.storageClassName ?? ''
}

/** True if the claim states a class, which may be empty. */
export function hasClass({ metadata, spec }: VolumeClaim, { oldClass }: VolumeNames): boolean {
  return metadata.annotations?.[oldClass] !== undefined || spec.storageClassName != null
}

/** The newest default class, by name among classes of the same age. */
export function defaultClass(classes: Iterable<StorageClass>, names: VolumeNames): StorageClass | undefined {
  const textOf = ({ metadata: { creationTimestamp, name = '' } }: StorageClass) => ({ created: creationTimestamp ?? '', name })
  let youngest: StorageClass | undefined
  for (const one of classes) {
    if (!isDefault(one, names)) continue
    const [mine, best] = [textOf(one), youngest && textOf(youngest)]
    if (best === undefined || mine.created > best.created || (mine.created === best.created && mine.name < best.name)) youngest = one
  }
  return youngest
}

/** True for a default class. */
export function isDefault({ metadata }: StorageClass, { defaultMarks }: VolumeNames): boolean {
  return defaultMarks.some((mark) => metadata.annotations?.[mark] === 'true')
}

/** True if claims of the class are bound when a Pod that uses them is scheduled. */
export function waitsForConsumer(storageClass: StorageClass | undefined): boolean {
  return storageClass?.volumeBindingMode === 'WaitForFirstConsumer'
}

/** True if the volume is reserved for the claim or bound to it; a uid in the reference must be the claim's. */
export function isFor({ spec: { claimRef } }: Volume, { metadata: { name, namespace, uid } }: VolumeClaim): boolean {
  return claimRef?.name === name && claimRef?.namespace === namespace && ((claimRef?.uid ?? '') === '' || claimRef?.uid === uid)
}

/** The key of the claim that a volume refers to: `namespace/name`; undefined if there is none. */
export function claimKeyOf({ spec: { claimRef } }: Volume): string | undefined {
  return claimRef == null ? undefined : `${claimRef.namespace}/${claimRef.name}`
}

export function hasAnnotation({ metadata }: { readonly metadata: ObjectMeta }, name: string): boolean {
  return metadata.annotations?.[name] !== undefined
}

export function sizeOf({ spec: { capacity } }: Volume): Quantity {
  return parseQuantity(capacity?.['storage'] ?? '') ?? zeroQuantity
}

export function requestOf({ spec: { resources } }: VolumeClaim): Quantity {
  return parseQuantity(resources?.requests?.['storage'] ?? '') ?? zeroQuantity
}

/** True if a claim's request exceeds the size in its status. */
export function isLargerThanStatus(claim: VolumeClaim): boolean {
  return compareQuantities(requestOf(claim), parseQuantity(claim.status.capacity?.['storage'] ?? '') ?? zeroQuantity) > 0
}
