import type { IsGateOn } from '../../feature-gates.ts'
import { child, type Draft, ensureChild, fill, fillEmpty, isEmptyField } from '../../kind/draft.ts'
import type { Names } from '../../names.ts'
import { roundAmounts } from './round-amounts.ts'
import { fillVolumeSource } from './volume.ts'

export function fillPersistentVolume(volume: Draft): void {
  const spec = ensureChild(volume, 'spec')
  fill(spec, { persistentVolumeReclaimPolicy: 'Retain', volumeMode: 'Filesystem' })
  roundAmounts(spec, 'capacity')
  fillVolumeSource(spec)
  fill(ensureChild(volume, 'status'), { phase: 'Pending' })
}

export function fillClaim(claim: Draft): void {
  const spec = ensureChild(claim, 'spec')
  fill(spec, { volumeMode: 'Filesystem' })
  for (const name of ['limits', 'requests']) roundAmounts(child(spec, 'resources'), name)
  const status = ensureChild(claim, 'status')
  fill(status, { phase: 'Pending' })
  for (const name of ['capacity', 'allocatedResources']) roundAmounts(status, name)
}

export function fillStorageClass(storageClass: Draft): void {
  fill(storageClass, { reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' })
}

export function fillCsiDriver(driver: Draft, _names: Names, isGateOn: IsGateOn): void {
  const spec = ensureChild(driver, 'spec')
  if (isEmptyField(spec, 'volumeLifecycleModes')) spec['volumeLifecycleModes'] = ['Persistent']
  if (isGateOn('SELinuxMountReadWriteOncePod')) fill(spec, { seLinuxMount: false })
  if (isGateOn('VolumeLimitScaling')) fill(spec, { preventPodSchedulingIfMissing: false })
  fill(spec, {
    attachRequired: true,
    podInfoOnMount: false,
    storageCapacity: false,
    fsGroupPolicy: 'ReadWriteOnceWithFSType',
    requiresRepublish: false,
  })
}

/**
 * Sets a missing `allocatable` to the capacity. The Pod range of a node is in an old field and
 * in a newer list; a node with one of them gets both, and the old field wins if they differ.
 */
export function fillNode(node: Draft): void {
  const spec = child(node, 'spec')
  const ranges = spec?.['podCIDRs']
  const [first] = Array.isArray(ranges) ? ranges : []
  const range = spec?.['podCIDR']
  if (spec !== undefined && typeof range === 'string' && range !== '') {
    if (range !== first) spec['podCIDRs'] = [range]
  } else if (first !== undefined) fillEmpty(spec, { podCIDR: first })
  const status = child(node, 'status')
  for (const name of ['capacity', 'allocatable']) roundAmounts(status, name)
  if (status !== undefined && status['allocatable'] === undefined && status['capacity'] !== undefined) {
    status['allocatable'] = { ...child(status, 'capacity') }
  }
}
