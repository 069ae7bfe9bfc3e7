import { compileTerm, type NodeSelectorTerm, nameField, requiredNodeAffinity } from '../../placement/node-selector.ts'
import type { Pod } from '../objects.ts'
import { type FilterPlugin, normalize, type Refusal, type ScorePlugin, skip } from '../plugin.ts'

const plugin = 'NodeAffinity'
const refused: Refusal = { plugin, isResolvable: false, reasons: ["node(s) didn't match Pod's node affinity/selector"] }
const conflicting: Refusal = { plugin, isResolvable: false, reasons: ['pod affinity terms conflict'] }

/** Refuses nodes that do not match the Pod's node selector or required affinity (SCHED-30, SCHED-31). */
export const affinityFilter: FilterPlugin = {
  name: plugin,
  start({ pod }) {
    const matches = requiredNodeAffinity(pod)
    if (matches === undefined) return skip
    const nodeNames = namedNodes(pod)
    if (nodeNames?.size === 0) return { kind: 'refused', refusal: conflicting }
    const run = { filter: (node: { name: string; labels: Pod['metadata']['labels'] }) => (matches(node) ? undefined : refused) }
    return { kind: 'run', run, ...(nodeNames && { nodeNames }) }
  },
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
  score({ pod: { pod }, nodes }) {
    const preferred = pod.spec.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []
    const terms = preferred
      .filter(({ weight, preference }) => weight !== 0 && !isEmpty(preference))
      .map(({ weight, preference }) => ({ weight, matches: compileTerm(preference) }))
    if (terms.length === 0) return undefined
    return normalize(nodes.map((node) => terms.reduce((sum, { weight, matches }) => (matches(node) ? sum + weight : sum), 0)))
  },
}

function isEmpty({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm): boolean {
  return matchExpressions.length + matchFields.length === 0
}
