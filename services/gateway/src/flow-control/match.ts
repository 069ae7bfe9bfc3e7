import type { User } from '@orch/core/contracts'
import type { RequestInfo, ResourceInfo } from '../request/request-info.ts'
import type { FlowSchema } from './configuration.ts'

export type FlowRule = NonNullable<FlowSchema['spec']['rules']>[number]
export type FlowSubject = NonNullable<FlowRule['subjects']>[number]
export type FlowResourceRule = NonNullable<FlowRule['resourceRules']>[number]

/** In matching order. */
export function inOrderOfPrecedence(schemas: Iterable<FlowSchema>): FlowSchema[] {
  return [...schemas].sort((a, b) => precedenceOf(a) - precedenceOf(b) || (a.name < b.name ? -1 : 1))
}

function precedenceOf({ spec }: FlowSchema): number {
  return spec.matchingPrecedence ?? 1000
}

/** True if a schema matches such requests. */
export function schemaMatches({ spec: { rules = [] } }: FlowSchema, user: User, info: RequestInfo): boolean {
  return rules.some((rule) => rule.subjects?.some((subject) => isSubject(subject, user)) && ruleMatches(rule, info))
}

function isSubject({ user, group, serviceAccount }: FlowSubject, { name, groups }: User): boolean {
  if (user !== undefined) return user.name === '*' || user.name === name
  if (group !== undefined) return group.name === '*' || groups.includes(group.name)
  if (serviceAccount === undefined) return false
  const prefix = `system:serviceaccount:${serviceAccount.namespace}:`
  return serviceAccount.name === '*' ? name.startsWith(prefix) : name === `${prefix}${serviceAccount.name}`
}

function ruleMatches({ resourceRules = [], nonResourceRules = [] }: FlowRule, info: RequestInfo): boolean {
  if (info.kind === 'resource') return resourceRules.some((rule) => resourceMatches(rule, info))
  return nonResourceRules.some(
    ({ verbs, nonResourceURLs }) => has(verbs, info.verb) && nonResourceURLs?.some((url) => pathMatches(url, info.path)),
  )
}

function resourceMatches(rule: FlowResourceRule, { verb, group, resource, subresource, namespace }: ResourceInfo): boolean {
  const isPlace = namespace === '' ? rule.clusterScope === true : has(rule.namespaces, namespace)
  return (
    isPlace &&
    has(rule.verbs, verb) &&
    has(rule.apiGroups, group) &&
    has(rule.resources, subresource === '' ? resource : `${resource}/${subresource}`)
  )
}

function has(list: readonly string[] | null | undefined, word: string): boolean {
  return list?.some((one) => one === '*' || one === word) === true
}

/** `/healthz` matches only that path, `/healthz/*` all below it, `*` everything. */
function pathMatches(pattern: string, path: string): boolean {
  return pattern === '*' || pattern === path || (pattern.endsWith('/*') && path.startsWith(pattern.slice(0, -1)))
}
