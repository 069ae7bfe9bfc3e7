import { firstUntolerated, tolerates } from '../../placement/taints.ts'
import { type FilterPlugin, normalize, type Refusal, type ScorePlugin } from '../plugin.ts'

const plugin = 'TaintToleration'
const refused: Refusal = { plugin, isResolvable: false, reasons: ['node(s) had untolerated taint(s)'] }

/** Refuses nodes with a taint that the Pod does not tolerate (SCHED-28). */
export const taintFilter: FilterPlugin = {
  name: plugin,
  start: ({ tolerations }, _cluster, { hasComparisons, namesTaints }) => ({
    kind: 'run',
    run: {
      filter({ taints }) {
        const taint = firstUntolerated(taints, tolerations, hasComparisons)
        if (taint === undefined) return undefined
        if (!namesTaints) return refused
        return { plugin, isResolvable: false, reasons: [`node(s) had untolerated taint {${taint.key}: ${taint.value ?? ''}}`] }
      },
    },
  }),
}

/** Prefers nodes with fewer taints PreferNoSchedule that the Pod does not tolerate (SCHED-55). */
export const taintScore: ScorePlugin = {
  name: plugin,
  weight: 3,
  score({ pod, nodes, rules: { hasComparisons } }) {
    const tolerations = pod.tolerations.filter(({ effect = '' }) => effect === '' || effect === 'PreferNoSchedule')
    const counts = nodes.map(({ taints }) => {
      let count = 0
      for (const taint of taints) {
        if (taint.effect === 'PreferNoSchedule' && !tolerations.some((one) => tolerates(one, taint, hasComparisons))) count++
      }
      return count
    })
    return normalize(counts, { isReversed: true })
  },
}
