import type { Amounts } from './amounts.ts'
import type { Counting } from './measures.ts'
import type { ScopeRequirement } from './scopes.ts'

/** A resource that may be used only if a quota covers it. */
export interface LimitedResource {
  readonly apiGroup: string
  readonly resource: string
  /** Resources whose names contain one of these texts need a quota. */
  readonly matchContains: readonly string[]
  /** Objects in one of these scopes need a quota with the same scope. */
  readonly matchScopes: readonly ScopeRequirement[]
}

/** The quota resources that cover an object. */
export interface Covered {
  readonly names: { has(name: string): boolean }
  readonly scopes: readonly ScopeRequirement[]
}

/** An object, and its usage of resources that need a quota. */
export interface LimitedUse {
  readonly counting: Counting
  readonly object: unknown
  readonly usage: Amounts
}

/** The reason for refusing an object whose use no quota covers; undefined if all is covered. */
export function uncoveredUse(limited: readonly LimitedResource[], use: LimitedUse, covered: Covered): string | undefined {
  const concerning = limited.filter(
    ({ apiGroup, resource }) => apiGroup === use.counting.resource.group && resource === use.counting.resource.resource,
  )
  const words = concerning.flatMap(({ matchContains }) => matchContains)
  const names = [...use.usage.keys()].filter((name) => words.some((word) => name.includes(word)) && !covered.names.has(name)).sort()
  if (names.length > 0) return `insufficient quota to consume: ${names.join(',')}`
  const scopes = concerning
    .flatMap(({ matchScopes }) => matchScopes)
    .filter((scope) => use.counting.isInScope(use.object, scope))
    .filter(({ scopeName }) => !covered.scopes.some((known) => known.scopeName === scopeName))
  if (scopes.length === 0) return undefined
  return `insufficient quota to match these scopes: [${scopes.map(describeScope).join(' ')}]`
}

function describeScope({ scopeName, operator, values = [] }: ScopeRequirement): string {
  return `{${scopeName} ${operator} [${values.join(' ')}]}`
}
