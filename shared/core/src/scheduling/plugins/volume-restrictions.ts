import { claimNameOf } from '../../workloads/volumes/users.ts'
import type { Cluster } from '../cluster.ts'
import type { NodeInfo } from '../node-info.ts'
import { type FilterPlugin, type FilterRun, type Refusal, skip } from '../plugin.ts'
import type { PodInfo, Volume } from '../pod-info.ts'

const plugin = 'VolumeRestrictions'
const taken: Refusal = { plugin, isResolvable: true, reasons: ['node(s) had no available disk'] }

/** Refuses nodes on which a disk is in use, and all nodes while another Pod uses a ReadWriteOncePod claim (SCHED-37). */
export const volumeRestrictions: FilterPlugin = {
  name: plugin,
  start(pod, cluster, { hasClaimsOfOnePod, claimTaken }) {
    const disks = pod.volumes.filter(isDisk)
    const claims = new Set<string>()
    for (const volume of hasClaimsOfOnePod ? pod.volumes : []) {
      const name = volume.persistentVolumeClaim?.claimName
      if (name === undefined) continue
      const claim = cluster.objects.claim(pod.namespace, name)
      if (claim === undefined) {
        return {
          kind: 'refused',
          refusal: { plugin, isResolvable: false, reasons: [`persistentvolumeclaim ${JSON.stringify(name)} not found`] },
        }
      }
      if (claim.spec.accessModes?.includes('ReadWriteOncePod')) claims.add(name)
    }
    return disks.length === 0 && claims.size === 0 ? skip : { kind: 'run', run: new DiskRun(pod, { disks, claims, claimTaken }, cluster) }
  },
}

interface Restricted {
  readonly disks: readonly Volume[]
  /** Names of ReadWriteOncePod claims. */
  readonly claims: ReadonlySet<string>
  /** The reason of a refusal for such a claim. */
  readonly claimTaken: string
}

class DiskRun implements FilterRun {
  readonly #pod: PodInfo
  readonly #restricted: Restricted
  /** Number of other Pods that use the claims. */
  #uses = 0

  constructor(pod: PodInfo, restricted: Restricted, cluster: Cluster) {
    this.#pod = pod
    this.#restricted = restricted
    if (restricted.claims.size === 0) return
    for (const node of cluster.nodes) for (const other of node.pods.values()) this.count(other, node, 1)
  }

  count({ namespace, pod, volumes }: PodInfo, _node: NodeInfo, by: 1 | -1): void {
    if (namespace !== this.#pod.namespace) return
    for (const volume of volumes) if (this.#restricted.claims.has(claimNameOf(pod, volume) ?? '')) this.#uses += by
  }

  filter({ pods }: NodeInfo): Refusal | undefined {
    const { disks, claimTaken } = this.#restricted
    if (disks.length > 0) {
      for (const { volumes } of pods.values()) {
        for (const used of volumes) if (disks.some((disk) => conflicts(disk, used))) return taken
      }
    }
    return this.#uses > 0 ? { plugin, isResolvable: true, reasons: [claimTaken] } : undefined
  }
}

function isDisk({ gcePersistentDisk, awsElasticBlockStore, iscsi, rbd }: Volume): boolean {
  return gcePersistentDisk != null || awsElasticBlockStore != null || iscsi != null || rbd != null
}

/** True if both are the same disk, unless both only read a disk that can be shared for reading. */
function conflicts(one: Volume, other: Volume): boolean {
  const isRead = (left: { readonly readOnly?: boolean }, right: { readonly readOnly?: boolean }) =>
    left.readOnly === true && right.readOnly === true
  const [gce, otherGce] = [one.gcePersistentDisk, other.gcePersistentDisk]
  if (gce != null && otherGce != null && gce.pdName === otherGce.pdName && !isRead(gce, otherGce)) return true
  const [ebs, otherEbs] = [one.awsElasticBlockStore, other.awsElasticBlockStore]
  if (ebs != null && otherEbs != null && ebs.volumeID === otherEbs.volumeID) return true
  const [iscsi, otherIscsi] = [one.iscsi, other.iscsi]
  if (iscsi != null && otherIscsi != null && iscsi.iqn === otherIscsi.iqn && !isRead(iscsi, otherIscsi)) return true
  const [rbd, otherRbd] = [one.rbd, other.rbd]
  if (rbd == null || otherRbd == null || isRead(rbd, otherRbd)) return false
  const isOneCluster = (rbd.monitors ?? []).some((monitor) => otherRbd.monitors?.includes(monitor))
  return isOneCluster && rbd.pool === otherRbd.pool && rbd.image === otherRbd.image
}
