import { runAtOnce, type Steps } from '../steps.ts'
import { coversPath, type PolicyRule } from './rule.ts'

/**
 * The wanted permissions that are not held, one rule per verb and object; empty if all are held.
 *
 *   held: get,list pods        wanted: get,delete pods        → [delete pods]
 */
export function missingRules(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): PolicyRule[] {
  const found = runAtOnce(missingRulesInSteps(held, wanted))
  if (found === undefined) throw new RangeError('the rules contain too many permissions')
  return found
}

/** Number of comparisons of a permission with a rule per step, and in total: about a second, in steps. */
const comparisonsPerStep = 10_000
const comparisonsMax = 2_000_000
/** Maximum number of missing permissions in the result. */
const missingMax = 1_000

/**
 * Like `missingRules`, for many rules: a rule of a hundred verbs, groups and resources covers a million permissions. The first
 * missing ones suffice for a refusal. Undefined if there are too many to compare.
 */
export function* missingRulesInSteps(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): Steps<PolicyRule[] | undefined> {
  const permissions = new HeldRules(held)
  const missing: PolicyRule[] = []
  let comparisons = 0
  let stepEnd = comparisonsPerStep
  for (const rule of wanted) {
    for (const single of singleRules(rule)) {
      comparisons += permissions.size
      if (comparisons > comparisonsMax) return undefined
      if (comparisons > stepEnd) {
        stepEnd = comparisons + comparisonsPerStep
        yield
      }
      if (permissions.covers(single)) continue
      missing.push(single)
      if (missing.length === missingMax) return missing
    }
  }
  return missing
}

/** The permissions of a user. Rules for a named resource are indexed; others are compared one by one. */
class HeldRules {
  readonly #verbs = new Map<string, Set<string>>()
  readonly #others: WordsOfRule[] = []

  constructor(held: readonly PolicyRule[]) {
    for (const rule of held) {
      const key = rule.resourceNames?.length ? undefined : simpleKey(rule)
      if (key === undefined || key.includes('*')) {
        this.#others.push(wordsOf(rule))
        continue
      }
      const verbs = this.#verbs.get(key) ?? new Set()
      for (const verb of rule.verbs) verbs.add(verb)
      this.#verbs.set(key, verbs)
    }
  }

  /** The number of comparisons per query. */
  get size(): number {
    return this.#others.length + 1
  }

  covers(single: PolicyRule): boolean {
    const { resourceNames: _names, ...unnamed } = single
    const verbs = single.nonResourceURLs === undefined ? this.#verbs.get(simpleKey(unnamed) ?? '') : undefined
    if (verbs !== undefined && (verbs.has('*') || single.verbs.every((verb) => verbs.has(verb)))) return true
    return this.#others.some((rule) => covers(rule, single))
  }
}

/** Merges rules for the same resource into one with all their verbs; other rules are unchanged. */
export function compactRules(rules: readonly PolicyRule[]): PolicyRule[] {
  const others: PolicyRule[] = []
  const simple = new Map<string, PolicyRule>()
  for (const rule of rules) {
    const key = simpleKey(rule)
    if (key === undefined) {
      others.push(rule)
      continue
    }
    const known = simple.get(key)
    simple.set(key, known === undefined ? rule : { ...known, verbs: [...known.verbs, ...rule.verbs] })
  }
  return [...others, ...simple.values()]
}

/** Prints a rule in one line: `{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}`. */
export function printRule({ apiGroups, resources, nonResourceURLs, resourceNames, verbs }: PolicyRule): string {
  const parts = [
    ['APIGroups', apiGroups],
    ['Resources', resources],
    ['NonResourceURLs', nonResourceURLs],
    ['ResourceNames', resourceNames],
    ['Verbs', verbs],
  ] as const
  const present = parts.filter(([, list]) => list !== undefined && list.length > 0)
  return `{${present.map(([name, list]) => `${name}:${printWords(list ?? [])}`).join(', ')}}`
}

/** `["a" "b"]` */
export function printWords(words: readonly string[]): string {
  return `[${words.map((word) => JSON.stringify(word)).join(' ')}]`
}

/** Yields permissions one by one, since together they could fill the memory. */
function* singleRules(rule: PolicyRule): Generator<PolicyRule> {
  const { verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule
  for (const group of apiGroups) {
    for (const resource of resources) {
      for (const verb of verbs) {
        const single = { verbs: [verb], apiGroups: [group], resources: [resource] }
        if (resourceNames.length === 0) yield single
        for (const name of resourceNames) yield { ...single, resourceNames: [name] }
      }
    }
  }
  for (const url of nonResourceURLs) for (const verb of verbs) yield { verbs: [verb], nonResourceURLs: [url] }
}

/** A rule with indexed words. */
type WordsOfRule = ReturnType<typeof wordsOf>

function wordsOf({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: PolicyRule) {
  return {
    verbs: new Set(verbs),
    apiGroups: new Set(apiGroups),
    resources: new Set(resources),
    resourceNames: new Set(resourceNames),
    nonResourceURLs: nonResourceURLs ?? [],
  }
}

function covers(held: WordsOfRule, single: PolicyRule): boolean {
  const names = single.resourceNames ?? []
  return (
    includesAll(held.verbs, single.verbs) &&
    includesAll(held.apiGroups, single.apiGroups) &&
    coversResources(held.resources, single.resources ?? []) &&
    (single.nonResourceURLs ?? []).every((url) => held.nonResourceURLs.some((pattern) => coversPath(pattern, url))) &&
    (held.resourceNames.size === 0 || (names.length > 0 && names.every((name) => held.resourceNames.has(name))))
  )
}

function includesAll(held: ReadonlySet<string>, wanted: readonly string[] = []): boolean {
  return held.has('*') || wanted.every((word) => held.has(word))
}

function coversResources(held: ReadonlySet<string>, wanted: readonly string[]): boolean {
  if (held.has('*')) return true
  return wanted.every((resource) => {
    const slash = resource.indexOf('/')
    return held.has(resource) || (slash >= 0 && held.has(`*${resource.slice(slash)}`))
  })
}

function simpleKey({ apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] }: PolicyRule): string | undefined {
  if (nonResourceURLs.length > 0 || apiGroups.length !== 1 || resources.length !== 1 || resourceNames.length > 1) return undefined
  return JSON.stringify([apiGroups[0], resources[0], resourceNames[0]])
}
