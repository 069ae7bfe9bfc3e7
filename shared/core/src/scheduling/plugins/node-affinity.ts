import {
  compileNodeSelector,
  compileTerm,
  type NodeSelectorTerm,
  nameField,
  requiredNodeAffinity,
  type SelectedNode,
} from '../../placement/node-selector.ts'
import type { Pod } from '../objects.ts'
import { type FilterPlugin, normalize, type Refusal, type ScorePlugin, skip } from '../plugin.ts'
import type { AddedAffinity, SchedulingRules } from '../rules.ts'

const plugin = 'NodeAffinity'
const refused: Refusal = { plugin, isResolvable: false, reasons: ["node(s) didn't match Pod's node affinity/selector"] }
const conflicting: Refusal = { plugin, isResolvable: false, reasons: ['pod affinity terms conflict'] }

const notEnforced: Refusal = { plugin, isResolvable: false, reasons: ["node(s) didn't match scheduler-enforced node affinity"] }

/** Refuses nodes that do not match the affinity of the scheduler, or the node selector and required affinity of the Pod (SCHED-30…SCHED-32). */
export const affinityFilter: FilterPlugin = {
  name: plugin,
  start({ pod }, _cluster, rules) {
    const enforced = enforcedAffinity(pod, rules)
    const matches = requiredNodeAffinity(pod)
    if (enforced === undefined && matches === undefined) return skip
    const nodeNames = namedNodes(pod)
    if (nodeNames?.size === 0) return { kind: 'refused', refusal: conflicting }
    const filter = (node: SelectedNode) => {
      if (enforced?.(node) === false) return notEnforced
      return matches?.(node) === false ? refused : undefined
    }
    return { kind: 'run', run: { filter }, ...(nodeNames && { nodeNames }) }
  },
}

/** The affinity that a Pod's scheduler requires; undefined if it requires none. */
export function enforcedAffinity(pod: Pod, rules: SchedulingRules): ((node: SelectedNode) => boolean) | undefined {
  const required = addedTo(pod, rules)?.requiredDuringSchedulingIgnoredDuringExecution
  return required == null ? undefined : compileNodeSelector(required)
}

function addedTo({ spec: { schedulerName = '' } }: Pod, { profiles }: SchedulingRules): AddedAffinity | undefined {
  return profiles.get(schedulerName)
}

/** The nodes that the terms name; undefined if a term names none. */
function namedNodes({ spec }: Pod): ReadonlySet<string> | undefined {
  const terms = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? []
  if (terms.length === 0) return undefined
  const all = new Set<string>()
  for (const term of terms) {
    const names = namesIn(term)
    if (names === undefined) return undefined
    for (const name of names) all.add(name)
  }
  return all
}

function namesIn({ matchFields = [] }: NodeSelectorTerm): ReadonlySet<string> | undefined {
  const named = matchFields.filter(({ key, operator }) => key === nameField && operator === 'In')
  const [first, ...others] = named.map(({ values }) => values ?? [])
  return first && new Set(first.filter((name) => others.every((names) => names.includes(name))))
}

/** Prefers nodes by the weights of matching preferred terms (SCHED-55). */
export const affinityScore: ScorePlugin = {
  name: plugin,
  weight: 2,
  score({ pod: { pod }, nodes, rules }) {
    const affinities = [addedTo(pod, rules), pod.spec.affinity?.nodeAffinity]
    const terms = affinities
      .flatMap((affinity) => affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [])
      .filter(({ weight, preference }) => weight !== 0 && !isEmpty(preference))
      .map(({ weight, preference }) => ({ weight, matches: compileTerm(preference) }))
    if (terms.length === 0) return undefined
    return normalize(nodes.map((node) => terms.reduce((sum, { weight, matches }) => (matches(node) ? sum + weight : sum), 0)))
  },
}

function isEmpty({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm): boolean {
  return matchExpressions.length + matchFields.length === 0
}
