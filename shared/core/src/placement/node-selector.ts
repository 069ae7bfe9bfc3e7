import type { BuiltIn } from '../schema/built-in.ts'
import { isTextOfInteger, matchesLabels, toLabelRequirements } from '../selectors/labels.ts'
import type { LabelRequirement } from '../selectors/selection.ts'

export type NodeSelectorTerm = BuiltIn<'core/v1.NodeSelectorTerm'>
type NodeSelector = BuiltIn<'core/v1.NodeSelector'>
type Expressions = NonNullable<NodeSelectorTerm['matchExpressions']>

/** The field of a node by which Pods of DaemonSets are bound. */
export const nameField = 'metadata.name'

/** The parts of a node that selectors read. */
export interface SelectedNode {
  readonly name: string
  readonly labels: Readonly<Record<string, string>> | undefined
}

/** A term, ready to be compared with many nodes. */
interface CompiledTerm {
  readonly ofLabels: readonly LabelRequirement[]
  readonly ofFields: readonly LabelRequirement[]
}

/** A function that says if a term matches a node. A term without requirements, or with an operator that is not known, matches nothing. */
export function compileTerm({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm): (node: SelectedNode) => boolean {
  const [ofLabels, ofFields] = [ofLabelsIn(matchExpressions), ofFieldsIn(matchFields)]
  if (ofLabels === undefined || ofFields === undefined || ofLabels.length + ofFields.length === 0) return () => false
  const term: CompiledTerm = { ofLabels, ofFields }
  return (node) => matchesTerm(term, node)
}

function matchesTerm({ ofLabels, ofFields }: CompiledTerm, { name, labels }: SelectedNode): boolean {
  return matchesLabels(ofLabels, labels) && (ofFields.length === 0 || matchesLabels(ofFields, { [nameField]: name }))
}

/** Selectors of labels in objects have no comparisons; those of nodes do. Undefined: a key, operator or value is not valid. */
function ofLabelsIn(list: Expressions): readonly LabelRequirement[] | undefined {
  const compared = list.flatMap(({ key, operator, values = [] }) =>
    operator === 'Gt' || operator === 'Lt' ? [{ key, operator, values } as const] : [],
  )
  if (compared.some(({ values }) => values.length !== 1 || !isTextOfInteger(values[0] ?? ''))) return undefined
  const reading = toLabelRequirements({ matchExpressions: list.filter(({ operator }) => operator !== 'Gt' && operator !== 'Lt') })
  return reading.kind === 'selector' ? [...reading.requirements, ...compared] : undefined
}

/** Fields are compared with one value. Undefined: there are more, or the operator is not known. */
function ofFieldsIn(list: Expressions): readonly LabelRequirement[] | undefined {
  const known = list.flatMap(({ key, operator, values = [] }) =>
    (operator === 'In' || operator === 'NotIn') && values.length === 1 ? [{ key, operator, values } as const] : [],
  )
  return known.length === list.length ? known : undefined
}

/** A function that says if one of the terms matches a node. No terms match nothing. */
export function compileNodeSelector(selector: NodeSelector): (node: SelectedNode) => boolean {
  const terms = (selector.nodeSelectorTerms ?? []).map(compileTerm)
  return (node) => terms.some((matches) => matches(node))
}

/** The required affinity and the node selector of a Pod; both must hold. Undefined: it has neither (SCHED-30). */
export function requiredNodeAffinity({ spec }: Pick<BuiltIn<'core/v1.Pod'>, 'spec'>): ((node: SelectedNode) => boolean) | undefined {
  const selected = Object.entries(spec.nodeSelector ?? {})
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
  if (selected.length === 0 && required == null) return undefined
  const matchesTerms = required == null ? () => true : compileNodeSelector(required)
  return (node) => {
    for (const [key, value] of selected) if (node.labels?.[key] !== value) return false
    return matchesTerms(node)
  }
}
