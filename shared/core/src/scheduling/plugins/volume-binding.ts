import { type FilterPlugin, skip } from '../plugin.ts'
import { claimNeeds, planVolumes } from '../volumes.ts'

const plugin = 'VolumeBinding'

/** Refuses nodes that cannot access the volumes of the Pod's claims, or on which no volumes can be found or provisioned. */
export const volumeBinding: FilterPlugin = {
  name: plugin,
  start(pod, cluster, rules) {
    const needs = claimNeeds(pod, cluster, rules)
    if (needs.kind === 'none') return skip
    if (needs.kind === 'refused') return { kind: 'refused', refusal: { plugin, isResolvable: false, reasons: [needs.reason] } }
    return {
      kind: 'run',
      run: {
        filter(node) {
          const { reasons } = planVolumes(needs, node, cluster, rules)
          return reasons.length === 0 ? undefined : { plugin, isResolvable: false, reasons }
        },
      },
    }
  },
}
