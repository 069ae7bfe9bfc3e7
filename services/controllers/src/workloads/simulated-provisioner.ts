import { type InformerEvent, unlessGone } from '@orch/client'
import { domainGroup } from '@orch/core/names'
import {
  claimNameOf,
  classOf,
  growth,
  hasAnnotation,
  isUsing,
  type Node,
  type Pod,
  provisionerFinalizer,
  provisionVolume,
  type StorageClass,
  type Volume,
  type VolumeClaim,
  volumeNames,
  type WorkloadEvent,
  waitsForConsumer,
  withAnnotations,
} from '@orch/core/workloads'
import type { Controller } from '../controller.ts'
import { aboutObject, keyOf } from '../informers/object-keys.ts'
import { type Caches, done, type Mapped, mapped, type Result, reconciler, requeueAfter, type World } from '../reconciler/index.ts'
import type { Surroundings } from '../surroundings.ts'
import { workloadBackoff } from './claims.ts'

/** Delay before another attempt to provision a volume. */
const retryMs = 15_000

const claims = mapped<VolumeClaim>('v1', 'persistentvolumeclaims', ({ kind, object }) => (kind === 'deleted' ? [] : [keyOf(object)]))
const volumes = mapped<Volume>('v1', 'persistentvolumes', ({ kind, object }) => (kind === 'deleted' ? [] : [keyOf(object)]))
const pods = mapped<Pod>('v1', 'pods', claimsOfPod)
const nodes = mapped<Node>('v1', 'nodes', () => [])

/** Claims that waited for the node of a Pod, which is now known. */
function claimsOfPod({ object: pod }: InformerEvent<Pod>, caches: Caches): string[] {
  if ((pod.spec.nodeName ?? '') === '') return []
  const names = (pod.spec.volumes ?? []).map((volume) => claimNameOf(pod, volume)).filter((name) => name !== undefined)
  const keys = names.map((name) => `${pod.metadata.namespace}/${name}`)
  return keys.filter((key) => (caches.read(claims).get(key)?.spec.volumeName ?? '') === '')
}

/** Provisions, expands and deletes the volumes of simulated nodes. Keys are `NAMESPACE/NAME` of claims and `NAME` of volumes. */
export const simulatedProvisioner: Controller = reconciler('simulated-provisioner', ({ names }) => {
  const classes = mapped<StorageClass>(`${domainGroup(names, 'storage')}/v1`, 'storageclasses', () => [])
  return {
    watches: [claims, volumes, pods, nodes, classes],
    backoff: workloadBackoff,
    component: names.simulatedDriver,
    reconcile: ({ key, world, signal }) => {
      const parts = { names, classes, world, signal }
      return key.includes('/') ? syncClaim(parts, key) : syncVolume(parts, key)
    },
  }
})

interface PassParts extends Pick<Surroundings, 'names' | 'signal'> {
  readonly classes: Mapped<StorageClass>
  readonly world: World
}

async function syncClaim(parts: PassParts, key: string): Promise<Result> {
  const { names, classes, world } = parts
  const marks = volumeNames(names)
  const claim = world.read(claims).get(key)
  if (claim === undefined || claim.metadata.deletionTimestamp != null) return done
  if ((claim.spec.volumeName ?? '') !== '') return enlarge(parts, claim)
  const storageClass = world.read(classes).get(classOf(claim, marks))
  if (storageClass?.provisioner !== names.simulatedDriver) return done
  if (waitsForConsumer(storageClass) && !hasAnnotation(claim, marks.selectedNode)) return selectNode(parts, claim)
  if (claim.metadata.annotations?.[marks.provisioner] !== names.simulatedDriver) return done
  return provision(parts, claim, storageClass)
}

/** A volume without its claim is deleted if its policy says so. */
async function syncVolume(parts: PassParts, name: string): Promise<Result> {
  const { names, world, signal } = parts
  const volume = world.read(volumes).get(name)
  if (volume === undefined || !isOurs(parts, volume)) return done
  const { deletionTimestamp, finalizers = [] } = volume.metadata
  const isKept = volume.spec.persistentVolumeReclaimPolicy !== 'Delete'
  const isReleased = volume.status.phase === 'Released'
  if (isKept ? deletionTimestamp == null : !isReleased) return done
  const left = finalizers.filter((one) => one !== provisionerFinalizer(names))
  const collection = world.collection(volumes)
  const metadata = { ...volume.metadata, finalizers: left }
  if (left.length < finalizers.length) await unlessGone(() => collection.update({ ...volume, metadata }, { signal }))
  if (deletionTimestamp == null) await unlessGone(() => collection.delete(name, { signal }))
  return done
}

/** If a scheduler without volume support has set a Pod's node, its volumes are provisioned on that node. */
async function selectNode({ names, world, signal }: PassParts, claim: VolumeClaim): Promise<Result> {
  const users = [...world.read(pods).inNamespace(claim.metadata.namespace)].filter((pod) => isUsing(pod, claim))
  const node = users.map(({ spec }) => spec.nodeName ?? '').find((name) => name !== '')
  if (node === undefined) return done
  await world.collection(claims).update(withAnnotations(claim, { [volumeNames(names).selectedNode]: node }), { signal })
  return done
}

async function provision(parts: PassParts, claim: VolumeClaim, storageClass: StorageClass): Promise<Result> {
  const { names, world, signal } = parts
  const { selectedNode } = volumeNames(names)
  const { namespace, name, uid } = claim.metadata
  if (world.read(volumes).get(`pvc-${uid}`) !== undefined) return done
  const nodeName = claim.metadata.annotations?.[selectedNode]
  const node = nodeName === undefined ? undefined : world.read(nodes).get(nodeName)
  const message = `External provisioner is provisioning volume for claim "${namespace}/${name}"`
  record(parts, claim, { type: 'Normal', reason: 'Provisioning', message })
  const made = provisionVolume({ claim, storageClass, node, names })
  if (made.kind === 'failed') {
    record(parts, claim, { type: 'Warning', reason: 'ProvisioningFailed', message: made.message })
    if (!made.isOfNode) return requeueAfter(retryMs, { background: true })
    const { [selectedNode]: _, ...annotations } = claim.metadata.annotations ?? {}
    await world.collection(claims).update({ ...claim, metadata: { ...claim.metadata, annotations } }, { signal })
    return done
  }
  const succeeded = () =>
    record(parts, claim, { type: 'Normal', reason: 'ProvisioningSucceeded', message: `Successfully provisioned volume pvc-${uid}` })
  await world.perform([{ kind: 'create', in: volumes, object: made.volume, succeeded }])
  return done
}

/** A claim that requests more gets it at once: its volume first, then its status. */
async function enlarge(parts: PassParts, claim: VolumeClaim): Promise<Result> {
  const { world, signal } = parts
  const volume = world.read(volumes).get(claim.spec.volumeName ?? '')
  if (volume === undefined || !isOurs(parts, volume) || volume.spec.claimRef?.uid !== claim.metadata.uid) return done
  const next = growth(claim, volume)
  if (next === undefined) return done
  const message = `External resizer is resizing volume ${volume.metadata.name}`
  if (next.volume !== volume) {
    record(parts, claim, { type: 'Normal', reason: 'Resizing', message })
    await world.collection(volumes).update(next.volume, { signal })
  }
  await world.collection(claims).update(next.claim, { subresource: 'status', signal })
  record(parts, claim, { type: 'Normal', reason: 'VolumeResizeSuccessful', message: 'Resize volume succeeded' })
  return done
}

function isOurs({ names }: PassParts, volume: Volume): boolean {
  const provisioner = volume.metadata.annotations?.[volumeNames(names).provisionedBy]
  return volume.spec.csi?.driver === names.simulatedDriver && provisioner === names.simulatedDriver
}

function record({ world }: PassParts, claim: VolumeClaim, event: WorkloadEvent): void {
  world.record(aboutObject({ apiVersion: 'v1', kind: 'PersistentVolumeClaim' }, claim), event)
}
