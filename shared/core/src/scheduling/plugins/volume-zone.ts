import { claimNameOf } from '../../workloads/volumes/users.ts'
import { type FilterPlugin, type Refusal, skip } from '../plugin.ts'

const plugin = 'VolumeZone'
const refused: Refusal = { plugin, isResolvable: false, reasons: ['node(s) had no available volume zone'] }
/** Separates the zones of a volume that is in several. */
const separator = '__'

/** Refuses nodes whose zone or region labels differ from the volumes'; a node without such labels accepts any volume (SCHED-43). */
export const volumeZone: FilterPlugin = {
  name: plugin,
  start({ pod, namespace, volumes }, { objects }, { zoneLabels }) {
    const wanted: { readonly key: string; readonly later: string | undefined; readonly values: readonly string[] }[] = []
    for (const volume of volumes) {
      const name = claimNameOf(pod, volume)
      const claim = name === undefined ? undefined : objects.claim(namespace, name)
      const labels = objects.volume(claim?.spec.volumeName ?? '')?.metadata.labels
      for (const { key, later } of zoneLabels)
        if (labels?.[key] !== undefined) wanted.push({ key, later, values: labels[key].split(separator) })
    }
    if (wanted.length === 0) return skip
    return {
      kind: 'run',
      run: {
        filter({ labels }) {
          if (!zoneLabels.some(({ key }) => labels?.[key] !== undefined)) return undefined
          const isIn = ({ key, later, values }: (typeof wanted)[number]) => values.includes(labels?.[key] ?? labels?.[later ?? ''] ?? '')
          return wanted.every(isIn) ? undefined : refused
        },
      },
    }
  },
}
