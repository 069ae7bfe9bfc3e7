import { coversPath, type PolicyRule } from './rule.ts'

/**
 * The permissions that are asked for and not held, one rule per verb and thing; empty when everything is held.
 *
 *   held: get,list pods        wanted: get,delete pods        → [delete pods]
 */
export function missingRules(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): PolicyRule[] {
  return wanted.flatMap(singleRules).filter((single) => !held.some((rule) => covers(rule, single)))
}

/** Rules about the same resource become one with all their verbs; other rules stay as they are. */
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

/** A rule in one line: `{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}`. */
export function printRule({ apiGroups, resources, nonResourceURLs, resourceNames, verbs }: PolicyRule): string {
  const parts = [
    ['APIGroups', apiGroups],
    ['Resources', resources],
    ['NonResourceURLs', nonResourceURLs],
    ['ResourceNames', resourceNames],
    ['Verbs', verbs],
  ] as const
  const told = parts.filter(([, list]) => list !== undefined && list.length > 0)
  return `{${told.map(([name, list]) => `${name}:${printWords(list ?? [])}`).join(', ')}}`
}

/** `["a" "b"]` */
export function printWords(words: readonly string[]): string {
  return `[${words.map((word) => JSON.stringify(word)).join(' ')}]`
}

function singleRules(rule: PolicyRule): PolicyRule[] {
  const { verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule
  const onResources = apiGroups.flatMap((group) =>
    resources.flatMap((resource) =>
      verbs.flatMap((verb): PolicyRule[] => {
        const single = { verbs: [verb], apiGroups: [group], resources: [resource] }
        return resourceNames.length === 0 ? [single] : resourceNames.map((name) => ({ ...single, resourceNames: [name] }))
      }),
    ),
  )
  return [...onResources, ...nonResourceURLs.flatMap((url) => verbs.map((verb) => ({ verbs: [verb], nonResourceURLs: [url] })))]
}

function covers(held: PolicyRule, single: PolicyRule): boolean {
  const names = held.resourceNames ?? []
  return (
    includesAll(held.verbs, single.verbs) &&
    includesAll(held.apiGroups, single.apiGroups) &&
    coversResources(held.resources ?? [], single.resources ?? []) &&
    (single.nonResourceURLs ?? []).every((url) => (held.nonResourceURLs ?? []).some((pattern) => coversPath(pattern, url))) &&
    (names.length === 0 || ((single.resourceNames ?? []).length > 0 && (single.resourceNames ?? []).every((name) => names.includes(name))))
  )
}

function includesAll(held: readonly string[] = [], wanted: readonly string[] = []): boolean {
  return held.includes('*') || wanted.every((word) => held.includes(word))
}

function coversResources(held: readonly string[], wanted: readonly string[]): boolean {
  if (held.includes('*')) return true
  return wanted.every((resource) => {
    const slash = resource.indexOf('/')
    return held.includes(resource) || (slash >= 0 && held.includes(`*${resource.slice(slash)}`))
  })
}

function simpleKey({ apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] }: PolicyRule): string | undefined {
  if (nonResourceURLs.length > 0 || apiGroups.length !== 1 || resources.length !== 1 || resourceNames.length > 1) return undefined
  return JSON.stringify([apiGroups[0], resources[0], resourceNames[0]])
}
