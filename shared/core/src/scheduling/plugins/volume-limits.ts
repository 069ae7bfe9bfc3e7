import { type Attachment, claimNameOf, classOf } from '../../workloads/index.ts'
import type { Cluster } from '../cluster.ts'
import { type FilterPlugin, type Refusal, skip } from '../plugin.ts'
import type { PodInfo } from '../pod-info.ts'
import type { SchedulingRules } from '../rules.ts'

const plugin = 'NodeVolumeLimits'
const refused: Refusal = { plugin, isResolvable: true, reasons: ['node(s) exceed max volume count'] }

/** First level at which volumes that are attached without a Pod count, also those that the Pod wants. */
export const attachmentsSince = 32
const noAttachments: ReadonlyMap<string, readonly Attachment[]> = new Map()

/** Refuses nodes whose CSINode allows no more volumes of a driver (SCHED-38). */
export const volumeLimits: FilterPlugin = {
  name: plugin,
  start(pod, cluster, rules) {
    const wanted = driversOf(pod, cluster, rules)
    if (wanted.size === 0) return skip
    const held = rules.level < attachmentsSince ? noAttachments : Map.groupBy(cluster.objects.attachments(), ({ spec }) => spec.nodeName)
    return {
      kind: 'run',
      run: {
        filter({ name, pods }) {
          const drivers = cluster.objects.csiNode(name)?.spec.drivers ?? []
          const limits = drivers.flatMap((driver) => (wanted.has(driver.name) && driver.allocatable?.count != null ? [driver] : []))
          if (limits.length === 0) return undefined
          const attached = new Map<string, Set<string>>()
          for (const other of pods.values()) addDrivers(attached, other, cluster, rules)
          for (const driver of limits) {
            const volumes = attached.get(driver.name) ?? new Set()
            const added = [...(wanted.get(driver.name) ?? [])].filter((volume) => !volumes.has(volume))
            const all = new Set(volumes)
            for (const { spec } of held.get(name) ?? []) {
              const handle = cluster.objects.volume(spec.source.persistentVolumeName ?? '')?.spec.csi?.volumeHandle
              if (spec.attacher === driver.name && handle !== undefined) all.add(handle)
            }
            if (added.length > 0 && all.size + added.length > (driver.allocatable?.count ?? 0)) return refused
          }
          return undefined
        },
      },
    }
  },
}

function driversOf(pod: PodInfo, cluster: Cluster, rules: SchedulingRules): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>()
  addDrivers(found, pod, cluster, rules)
  return found
}

/** Adds the handles of the Pod's volumes by driver. A claim without a volume counts for its provisioner. */
function addDrivers(
  found: Map<string, Set<string>>,
  { pod, namespace, volumes }: PodInfo,
  { objects }: Cluster,
  rules: SchedulingRules,
): void {
  for (const volume of volumes) {
    const name = claimNameOf(pod, volume)
    const claim = name === undefined ? undefined : objects.claim(namespace, name)
    if (claim === undefined) continue
    const bound = objects.volume(claim.spec.volumeName ?? '')
    const driver = bound === undefined ? objects.storageClass(classOf(claim, rules.volumes))?.provisioner : bound.spec.csi?.driver
    const handle = bound === undefined ? `${namespace}/${name}` : bound.spec.csi?.volumeHandle
    if (driver !== undefined && handle !== undefined) found.set(driver, (found.get(driver) ?? new Set<string>()).add(handle))
  }
}
