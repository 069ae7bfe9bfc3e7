import type { BuiltIn } from '../schema/built-in.ts'
import { isTextOfInteger, matchesLabels, toLabelRequirements } from '../selectors/labels.ts'
import type { LabelRequirement } from '../selectors/selection.ts'

export type NodeSelectorTerm = BuiltIn<'core/v1.NodeSelectorTerm'>
type Expressions = NonNullable<NodeSelectorTerm['matchExpressions']>

/** The node field that DaemonSet Pods select by. */
export const nameField = 'metadata.name'

/** The parts of a node that a selector reads. */
export interface SelectedNode {
  readonly name: string
  readonly labels: Readonly<Record<string, string>> | undefined
}

/** A compiled term, for comparison with many nodes. */
interface CompiledTerm {
  readonly ofLabels: readonly LabelRequirement[]
  readonly ofFields: readonly LabelRequirement[]
}

/** Compiles a term. A term without requirements, or with an unknown operator, matches no node. */
export function compileTerm({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm): (node: SelectedNode) => boolean {
  const [ofLabels, ofFields] = [ofLabelsIn(matchExpressions), ofFieldsIn(matchFields)]
  if (ofLabels === undefined || ofFields === undefined || ofLabels.length + ofFields.length === 0) return () => false
  const term: CompiledTerm = { ofLabels, ofFields }
  return (node) => matchesTerm(term, node)
}

function matchesTerm({ ofLabels, ofFields }: CompiledTerm, { name, labels }: SelectedNode): boolean {
  return matchesLabels(ofLabels, labels) && (ofFields.length === 0 || matchesLabels(ofFields, { [nameField]: name }))
}

/** Node selectors have comparison operators, which label selectors lack. Undefined if a key, operator or value is invalid. */
function ofLabelsIn(list: Expressions): readonly LabelRequirement[] | undefined {
  const compared = list.flatMap(({ key, operator, values = [] }) =>
    operator === 'Gt' || operator === 'Lt' ? [{ key, operator, values } as const] : [],
  )
  if (compared.some(({ values }) => values.length !== 1 || !isTextOfInteger(values[0] ?? ''))) return undefined
  const reading = toLabelRequirements({ matchExpressions: list.filter(({ operator }) => operator !== 'Gt' && operator !== 'Lt') })
  return reading.kind === 'selector' ? [...reading.requirements, ...compared] : undefined
}

/** Fields are compared with a single value. Undefined for several values or an unknown operator. */
function ofFieldsIn(list: Expressions): readonly LabelRequirement[] | undefined {
  const known = list.flatMap(({ key, operator, values = [] }) =>
    (operator === 'In' || operator === 'NotIn') && values.length === 1 ? [{ key, operator, values } as const] : [],
  )
  return known.length === list.length ? known : undefined
}

/** Compiles a node selector, which matches if one of its terms does. Without terms it matches no node. */
export function compileNodeSelector(selector: BuiltIn<'core/v1.NodeSelector'>): (node: SelectedNode) => boolean {
  const terms = (selector.nodeSelectorTerms ?? []).map(compileTerm)
  return (node) => terms.some((matches) => matches(node))
}

/** A Pod's required node affinity and node selector, both of which must match. Undefined if it has neither (SCHED-30). */
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
