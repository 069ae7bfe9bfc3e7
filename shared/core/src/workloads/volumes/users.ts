import type { Pod } from '../pods.ts'
import type { VolumeClaim } from '../stateful-set/claims.ts'

type PodVolume = NonNullable<NonNullable<Pod['spec']['volumes']>[number]>

/** The name of the claim behind a Pod's volume; undefined if there is none. An ephemeral volume's claim is named after both. */
export function claimNameOf(pod: Pod, { name, persistentVolumeClaim, ephemeral }: PodVolume): string | undefined {
  if (persistentVolumeClaim != null) return persistentVolumeClaim.claimName
  return ephemeral == null ? undefined : `${pod.metadata.name}-${name}`
}

/** True if the Pod refers to the claim and may still run. */
export function isUsing(pod: Pod, { metadata: { name } }: VolumeClaim): boolean {
  return pod.spec.volumes?.some((volume) => claimNameOf(pod, volume) === name) === true && !isTerminated(pod)
}

/** True if the claim was created for the Pod, which is its controller. */
export function isMadeFor({ metadata: { ownerReferences } }: VolumeClaim, { metadata: { uid } }: Pod): boolean {
  return ownerReferences?.some((owner) => owner.controller === true && owner.uid === uid) === true
}

/** True if the Pod has finished, or is being deleted without running containers. */
function isTerminated({ metadata, status }: Pod): boolean {
  if (status.phase === 'Succeeded' || status.phase === 'Failed') return true
  const { initContainerStatuses, containerStatuses, ephemeralContainerStatuses } = status
  const all = [initContainerStatuses, containerStatuses, ephemeralContainerStatuses].flatMap((statuses) => statuses ?? [])
  return metadata.deletionTimestamp != null && all.every(({ state }) => state?.terminated != null || state?.waiting != null)
}
