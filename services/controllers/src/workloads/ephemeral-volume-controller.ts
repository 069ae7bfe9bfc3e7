import type { InformerEvent } from '@orch/client'
import { claimNameOf, isMadeFor, type Pod, type VolumeClaim } from '@orch/core/workloads'
import { aboutObject, keyOf } from '../informers/object-keys.ts'
import { type Action, type Caches, type Controller, done, mapped, own, reconciler, type World } from '../reconciler/index.ts'
import { referenceTo, workloadBackoff } from './claims.ts'

const podKind = { apiVersion: 'v1', kind: 'Pod' }

type PodVolume = NonNullable<NonNullable<Pod['spec']['volumes']>[number]>

/** Volumes of a Pod do not change. */
const pods = own<Pod>('v1', 'pods', { isDue: ({ kind, object }) => kind === 'added' && hasEphemeralVolume(object) })
/** A deleted claim is created again while its Pod exists. */
const claims = mapped<VolumeClaim>('v1', 'persistentvolumeclaims', podsOfDeletedClaim, { isLazy: true })

function podsOfDeletedClaim({ kind, object }: InformerEvent<VolumeClaim>, caches: Caches): string[] {
  if (kind !== 'deleted') return []
  const { name, namespace } = object.metadata
  const isOf = (pod: Pod) => pod.spec.volumes?.some((volume) => volume.ephemeral != null && claimNameOf(pod, volume) === name) === true
  return [...caches.read(pods).inNamespace(namespace)].filter(isOf).map(keyOf)
}

function hasEphemeralVolume({ spec }: Pod): boolean {
  return spec.volumes?.some(({ ephemeral }) => ephemeral != null) === true
}

/** Creates the claims of ephemeral volumes, which are deleted with their Pods (WL-PV-16). */
export const ephemeralVolumeController: Controller = reconciler<Pod>('ephemeral-volume', () => ({
  watches: [pods, claims],
  backoff: workloadBackoff,
  component: 'ephemeral_volume',
  reconcile: async ({ object: pod, world }) => {
    if (pod.metadata.deletionTimestamp != null) return done
    for (const volume of pod.spec.volumes ?? []) if (volume.ephemeral != null) await makeClaim(pod, volume, world)
    return done
  },
}))

async function makeClaim(pod: Pod, volume: PodVolume, world: World): Promise<void> {
  const { name: podName = '', namespace } = pod.metadata
  const failed = (why: string) =>
    world.record(aboutObject(podKind, pod), {
      type: 'Warning',
      reason: 'FailedBinding',
      message: `ephemeral volume ${volume.name}: ${why}`,
    })
  const name = claimNameOf(pod, volume) ?? ''
  const existing = world.read(claims).get(`${namespace}/${name}`)
  if (existing !== undefined && isMadeFor(existing, pod)) return
  if (existing !== undefined) {
    const why = `PVC ${namespace}/${name} was not created for pod ${namespace}/${podName} (pod is not owner)`
    failed(why)
    throw new Error(why)
  }
  const { metadata: { labels, annotations } = {}, spec } = volume.ephemeral?.volumeClaimTemplate ?? {}
  const metadata = { name, namespace, labels, annotations, ownerReferences: [referenceTo(podKind, pod)] }
  const creation: Action = {
    kind: 'create',
    in: claims,
    object: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata, spec },
    refused: (message) => failed(`create PVC ${name}: ${message}`),
  }
  await world.perform([creation])
}
