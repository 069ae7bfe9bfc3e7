import type { BuiltIn } from '../../schema/built-in.ts'
import { isTextOfInteger, matchesLabels, toInteger } from '../../selectors/labels.ts'
import type { LabelRequirement } from '../../selectors/selection.ts'
import type { Node, Pod } from '../pods.ts'
import type { daemonTolerations, Template, Toleration } from './names.ts'

type Affinity = BuiltIn<'core/v1.Affinity'>
type Term = BuiltIn<'core/v1.NodeSelectorTerm'>
type Expressions = NonNullable<Term['matchExpressions']>
type Taint = BuiltIn<'core/v1.Taint'>

/** The field of a node by which Pods of DaemonSets are bound. */
const nameField = 'metadata.name'

const operators = ['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt'] as const

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
  const { nodeName = '', nodeSelector = {}, affinity } = spec
  if (nodeName !== '' && nodeName !== metadata.name) return none
  const hasLabels = Object.entries(nodeSelector).every(([key, value]) => metadata.labels?.[key] === value)
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
  if (!hasLabels || (required != null && required.nodeSelectorTerms?.some((term) => matchesTerm(term, metadata)) !== true)) return none
  const tolerations = tolerationsOf(spec, options.tolerations)
  const rejecting = taints.filter((taint) => !tolerations.some((one) => tolerates(one, taint, options.hasComparisons)))
  const hasRejecting = (effect: Taint['effect']) => rejecting.some((taint) => taint.effect === effect)
  const shouldContinue = !hasRejecting('NoExecute')
  return { shouldRun: shouldContinue && !hasRejecting('NoSchedule'), shouldContinue }
}

/** A term without requirements matches nothing, and so does one with an operator that is not known. */
function matchesTerm({ matchExpressions = [], matchFields = [] }: Term, { name = '', labels }: Node['metadata']): boolean {
  const [ofLabels, ofFields] = [requirementsOf(matchExpressions), requirementsOf(matchFields)]
  if (ofLabels === undefined || ofFields === undefined || ofLabels.length + ofFields.length === 0) return false
  return matchesLabels(ofLabels, labels) && matchesLabels(ofFields, { [nameField]: name })
}

function requirementsOf(list: Expressions): readonly LabelRequirement[] | undefined {
  const known = list.flatMap(({ key, operator: name, values = [] }) => {
    const operator = operators.find((one) => one === name)
    return operator === undefined ? [] : [{ key, operator, values }]
  })
  return known.length === list.length ? known : undefined
}

function tolerates({ key = '', operator = 'Equal', value = '', effect = '' }: Toleration, taint: Taint, hasComparisons: boolean): boolean {
  if ((effect !== '' && effect !== taint.effect) || (key !== '' && key !== taint.key)) return false
  const of = taint.value ?? ''
  switch (operator) {
    case 'Exists':
      return true
    case 'Equal':
      return value === of
    case 'Lt':
    case 'Gt': {
      if (!hasComparisons || !isTextOfInteger(value) || !isTextOfInteger(of)) return false
      return operator === 'Lt' ? toInteger(of) < toInteger(value) : toInteger(of) > toInteger(value)
    }
    default:
      return false
  }
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
