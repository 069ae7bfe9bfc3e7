import { tolerates } from '../../placement/taints.ts'
import { type FilterPlugin, type Refusal, skip } from '../plugin.ts'

const refused: Refusal = { plugin: 'NodeUnschedulable', isResolvable: false, reasons: ['node(s) were unschedulable'] }

/** Refuses cordoned nodes, unless the Pod tolerates the taint (SCHED-26). */
export const nodeUnschedulable: FilterPlugin = {
  name: 'NodeUnschedulable',
  start({ tolerations }, _cluster, { unschedulableTaint: key, hasComparisons }) {
    if (tolerations.some((one) => tolerates(one, { key, effect: 'NoSchedule' }, hasComparisons))) return skip
    return { kind: 'run', run: { filter: ({ node }) => (node.spec.unschedulable === true ? refused : undefined) } }
  },
}
