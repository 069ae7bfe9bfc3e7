import { nameField, requiredNodeAffinity } from '../../placement/node-selector.ts'
import { tolerates } from '../../placement/taints.ts'
import type { BuiltIn } from '../../schema/built-in.ts'
import type { Node, Pod } from '../pods.ts'
import type { daemonTolerations, Template, Toleration } from './names.ts'

type Affinity = BuiltIn<'core/v1.Affinity'>
type Term = BuiltIn<'core/v1.NodeSelectorTerm'>
type Taint = BuiltIn<'core/v1.Taint'>

/** The relation of a template to a node. */
export interface Fit {
  /** A Pod belongs on the node. */
  readonly shouldRun: boolean
  /** A Pod that is on the node may stay. */
  readonly shouldContinue: boolean
}

const none: Fit = { shouldRun: false, shouldContinue: false }

/** The parts of a node that its fit follows from. */
export type NodeView = Pick<Node, 'metadata' | 'spec'>

export interface FitOptions {
  readonly tolerations: ReturnType<typeof daemonTolerations>
  /** True if the operators Lt and Gt of tolerations are served. */
  readonly hasComparisons: boolean
}

/**
 * The fit of a template and a node by name, labels and taints; resources and ports are the scheduler's (WL-DS-01 to WL-DS-03).
 *
 *   selector {pool: a}, node without labels      neither
 *   a taint NoSchedule that is not tolerated     no new Pod, one that runs may stay
 *   a taint NoExecute that is not tolerated      neither
 */
export function fitOf({ spec }: Template, { metadata, spec: { taints = [] } }: NodeView, options: FitOptions): Fit {
  const { nodeName = '' } = spec
  const { name = '', labels } = metadata
  if (nodeName !== '' && nodeName !== name) return none
  if (requiredNodeAffinity({ spec })?.({ name, labels }) === false) return none
  const tolerations = tolerationsOf(spec, options.tolerations)
  const rejecting = taints.filter((taint) => !tolerations.some((one) => tolerates(one, taint, options.hasComparisons)))
  const hasRejecting = (effect: Taint['effect']) => rejecting.some((taint) => taint.effect === effect)
  const shouldContinue = !hasRejecting('NoExecute')
  return { shouldRun: shouldContinue && !hasRejecting('NoSchedule'), shouldContinue }
}

/** The tolerations of the Pods: the template's first, then the added ones that are not there yet (WL-DS-04). */
export function tolerationsOf(
  { tolerations = [], hostNetwork }: Template['spec'],
  { all, ofHostNetwork }: FitOptions['tolerations'],
): readonly Toleration[] {
  let list = tolerations
  for (const added of hostNetwork === true ? [...all, ofHostNetwork] : all) {
    const isSame = ({ key, operator = 'Equal', value = '', effect }: Toleration) =>
      key === added.key && operator === added.operator && value === '' && effect === added.effect
    list = list.some(isSame) ? list.map((one) => (isSame(one) ? added : one)) : [...list, added]
  }
  return list
}

/** The affinity of the Pod for a node: its name takes the place of all that the template requires of nodes (WL-DS-06). */
export function affinityTo(node: string, affinity: Affinity | null | undefined): Affinity {
  const nodeSelectorTerms: Term[] = [{ matchFields: [{ key: nameField, operator: 'In', values: [node] }] }]
  return {
    ...affinity,
    nodeAffinity: { ...affinity?.nodeAffinity, requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } },
  }
}

/** The node that a Pod is on, or before it is bound the one that it is for (WL-DS-08). Undefined: it is for none. */
export function nodeOf({ spec: { nodeName = '', affinity } }: Pod): string | undefined {
  if (nodeName !== '') return nodeName
  const terms = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? []
  const named = terms.flatMap(({ matchFields = [] }) => matchFields).find(({ key, operator }) => key === nameField && operator === 'In')
  return named?.values?.length === 1 ? named.values[0] : undefined
}
