import type { Pod, WorkloadEvent } from '../pods.ts'
import type { VolumeClaim } from '../stateful-set/claims.ts'
import { findVolume, mismatchOf } from './match.ts'
import {
  classOf,
  defaultClass,
  hasAnnotation,
  hasClass,
  isFor,
  type StorageClass,
  type Volume,
  type VolumeNames,
  waitsForConsumer,
} from './objects.ts'
import { isUsing } from './users.ts'

/** The next step of a claim. */
export type ClaimPlan =
  | { readonly kind: 'bind'; readonly volume: Volume }
  | { readonly kind: 'set class'; readonly storageClassName: string }
  /** A provisioner must create a volume. */
  | { readonly kind: 'provision'; readonly provisioner: string; readonly event: WorkloadEvent }
  /** The claim waits without a volume. An event for the phase Lost is recorded only when the phase changes. */
  | { readonly kind: 'wait'; readonly phase: 'Pending' | 'Lost'; readonly event?: WorkloadEvent }
  /** Only the event is written. */
  | { readonly kind: 'event'; readonly event: WorkloadEvent }

export interface ClaimObserved {
  readonly claim: VolumeClaim
  readonly names: VolumeNames
  readonly level: number
  readonly hasAttributeClasses: boolean
  volumes(): Iterable<Volume>
  volumeNamed(name: string): Volume | undefined
  classes(): Iterable<StorageClass>
  classNamed(name: string): StorageClass | undefined
  /** Pods of the claim's namespace. */
  pods(): Iterable<Pod>
}

/** The first level at which existing claims without a class get the default class. */
const lateClassSince = 26
/** The first level whose message about pending provisioners is a sentence. */
const waitingTextSince = 28

/**
 * The next step of a claim: a volume is found, awaited or provisioned (WL-PV-02 to WL-PV-14).
 *
 *   claim of 3Gi; volumes of 1Gi, 5Gi, 20Gi, Available      bind to the one of 5Gi
 *   class with a provisioner, no volume                     provision
 *   bound before, its volume is gone                        wait in phase Lost, Warning ClaimLost
 */
export function decideClaim(observed: ClaimObserved): ClaimPlan {
  const { claim, names } = observed
  const volume = observed.volumeNamed(claim.spec.volumeName ?? '')
  if (hasAnnotation(claim, names.bindCompleted)) return decideBound(claim, volume)
  if ((claim.spec.volumeName ?? '') === '') return decideUnbound(observed)
  return volume === undefined ? { kind: 'wait', phase: 'Pending' } : decideNamed(observed, volume)
}

/** Decides about a claim that was bound before. */
function decideBound({ metadata, spec }: VolumeClaim, volume: Volume | undefined): ClaimPlan {
  const lost = (reason: string, message: string): ClaimPlan => ({
    kind: 'wait',
    phase: 'Lost',
    event: { type: 'Warning', reason, message },
  })
  if ((spec.volumeName ?? '') === '')
    return lost('ClaimLost', 'Bound claim has lost reference to PersistentVolume. Data on the volume is lost!')
  if (volume === undefined) return lost('ClaimLost', 'Bound claim has lost its PersistentVolume. Data on the volume is lost!')
  if (volume.spec.claimRef == null || volume.spec.claimRef.uid === metadata.uid) return { kind: 'bind', volume }
  return lost('ClaimMisbound', 'Two claims are bound to the same volume, this one is bound incorrectly')
}

/** Decides about a claim that names its volume. */
function decideNamed(observed: ClaimObserved, volume: Volume): ClaimPlan {
  const { claim, names, hasAttributeClasses } = observed
  const name = JSON.stringify(volume.metadata.name)
  const refused = (reason: string, message: string): ClaimPlan => ({
    kind: 'wait',
    phase: 'Pending',
    event: { type: 'Warning', reason, message },
  })
  if (isFor(volume, claim)) return { kind: 'bind', volume }
  if (volume.spec.claimRef != null) return refused('FailedBinding', `volume ${name} already bound to a different claim.`)
  const mismatch = mismatchOf(claim, volume, { names, hasAttributeClasses, isDelayed: false })
  return mismatch === undefined
    ? { kind: 'bind', volume }
    : refused('VolumeMismatch', `Cannot bind to requested volume ${name}: ${mismatch}`)
}

/** Decides about a claim that accepts any suitable volume. */
function decideUnbound(observed: ClaimObserved): ClaimPlan {
  const { claim, names, level, hasAttributeClasses } = observed
  const className = classOf(claim, names)
  const storageClass = className === '' ? undefined : observed.classNamed(className)
  const isDelayed = waitsForConsumer(storageClass)
  const volume = findVolume(claim, observed.volumes(), { names, hasAttributeClasses, isDelayed })
  if (volume !== undefined) return { kind: 'bind', volume }
  const late = level < lateClassSince || hasClass(claim, names) ? undefined : defaultClass(observed.classes(), names)
  if (late?.metadata.name !== undefined) return { kind: 'set class', storageClassName: late.metadata.name }
  if (isDelayed && !hasAnnotation(claim, names.selectedNode))
    return { kind: 'wait', phase: 'Pending', event: waitingEvent(claim, observed.pods()) }
  if (className !== '') return decideProvision(observed, className, storageClass)
  const message = 'no persistent volumes available for this claim and no storage class is set'
  return { kind: 'wait', phase: 'Pending', event: { type: 'Normal', reason: 'FailedBinding', message } }
}

function waitingEvent(claim: VolumeClaim, pods: Iterable<Pod>): WorkloadEvent {
  const waiting = [...pods].filter((pod) => (pod.spec.nodeName ?? '') === '' && isUsing(pod, claim)).map(({ metadata: { name } }) => name)
  if (waiting.length === 0)
    return { type: 'Normal', reason: 'WaitForFirstConsumer', message: 'waiting for first consumer to be created before binding' }
  const message = `waiting for pod${waiting.length > 1 ? 's' : ''} ${waiting.join(',')} to be scheduled`
  return { type: 'Normal', reason: 'WaitForPodScheduled', message }
}

function decideProvision({ names, level }: ClaimObserved, className: string, storageClass: StorageClass | undefined): ClaimPlan {
  const failed = (message: string): ClaimPlan => ({ kind: 'event', event: { type: 'Warning', reason: 'ProvisioningFailed', message } })
  if (storageClass === undefined) return failed(`${names.classResource} ${JSON.stringify(className)} not found`)
  const provisioner = driverInPlaceOf(storageClass.provisioner, names)
  const builtIn = provisioner.startsWith(names.builtInPrefix) ? provisioner.slice(names.builtInPrefix.length) : undefined
  if (builtIn === 'host-path') {
    const text = `Failed to create provisioner: provisioning in volume plugin "${provisioner}" is disabled`
    return { kind: 'provision', provisioner, event: { type: 'Warning', reason: 'ProvisioningFailed', message: text } }
  }
  // The remaining built-in plugins of kube-controller-manager do not provision volumes.
  if (builtIn === 'nfs') return failed('no provisionable volume plugin matched')
  if (builtIn !== undefined) return failed(`no volume plugin matched name: ${provisioner}`)
  const message =
    level < waitingTextSince
      ? `waiting for a volume to be created, either by external provisioner "${provisioner}" or manually created by system administrator`
      : `Waiting for a volume to be created either by the external provisioner '${provisioner}' or manually by the system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered.`
  return { kind: 'provision', provisioner, event: { type: 'Normal', reason: 'ExternalProvisioning', message } }
}

/** Former built-in provisioners and the drivers that replaced them. */
const drivers: Readonly<Record<string, string>> = {
  'aws-ebs': 'ebs.csi.aws.com',
  'azure-disk': 'disk.csi.azure.com',
  'azure-file': 'file.csi.azure.com',
  cinder: 'cinder.csi.openstack.org',
  'gce-pd': 'pd.csi.storage.gke.io',
  'portworx-volume': 'pxd.portworx.com',
  'vsphere-volume': 'csi.vsphere.vmware.com',
}

function driverInPlaceOf(provisioner: string, { builtInPrefix }: VolumeNames): string {
  return provisioner.startsWith(builtInPrefix) ? (drivers[provisioner.slice(builtInPrefix.length)] ?? provisioner) : provisioner
}
