import { nameField, requiredNodeAffinity } from '../../placement/node-selector.ts'
import { tolerates } from '../../placement/taints.ts'
import type { BuiltIn } from '../../schema/built-in.ts'
import type { Node, Pod } from '../pods.ts'
import type { daemonTolerations, Template, Toleration } from './names.ts'

type Affinity = BuiltIn<'core/v1.Affinity'>

/** The relation of a template to a node. */
export interface Fit {
  /** True if the node should have a Pod. */
  readonly shouldRun: boolean
  /** True if an existing Pod may stay. */
  readonly shouldContinue: boolean
}

const none: Fit = { shouldRun: false, shouldContinue: false }

/** The parts of a node that affect its fit. */
export type NodeView = Pick<Node, 'metadata' | 'spec'>

export interface FitOptions {
  readonly tolerations: ReturnType<typeof daemonTolerations>
  /** True if tolerations support Lt and Gt. */
  readonly hasComparisons: boolean
}

/**
 * The fit of a template and a node by name, labels and taints; the scheduler checks resources and ports (WL-DS-01 to WL-DS-03).
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
  const hasRejecting = (effect: BuiltIn<'core/v1.Taint'>['effect']) => rejecting.some((taint) => taint.effect === effect)
  const shouldContinue = !hasRejecting('NoExecute')
  return { shouldRun: shouldContinue && !hasRejecting('NoSchedule'), shouldContinue }
}

/** The tolerations of Pods: the template's first, then added ones that are missing (WL-DS-04). */
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

/** A Pod's affinity for a node: the node's name replaces all required node affinity of the template (WL-DS-06). */
export function affinityTo(node: string, affinity: Affinity | null | undefined): Affinity {
  const nodeSelectorTerms: BuiltIn<'core/v1.NodeSelectorTerm'>[] = [{ matchFields: [{ key: nameField, operator: 'In', values: [node] }] }]
  return {
    ...affinity,
    nodeAffinity: { ...affinity?.nodeAffinity, requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } },
  }
}

/** The node of a Pod, or before it is bound the node that it is for (WL-DS-08); undefined if there is none. */
export function nodeOf({ spec: { nodeName = '', affinity } }: Pod): string | undefined {
  if (nodeName !== '') return nodeName
  const terms = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? []
  const named = terms.flatMap(({ matchFields = [] }) => matchFields).find(({ key, operator }) => key === nameField && operator === 'In')
  return named?.values?.length === 1 ? named.values[0] : undefined
}
