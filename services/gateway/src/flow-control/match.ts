import type { User } from '@orch/core/contracts'
import type { RequestInfo, ResourceInfo } from '../request/request-info.ts'
import type { FlowResourceRule, FlowRule, FlowSchema, FlowSubject } from './configuration.ts'

/** In matching order. */
export function inOrderOfPrecedence(schemas: Iterable<FlowSchema>): FlowSchema[] {
  return [...schemas].sort((a, b) => a.precedence - b.precedence || (a.name < b.name ? -1 : 1))
}

/** True if a schema matches such requests. */
export function schemaMatches({ rules }: FlowSchema, user: User, info: RequestInfo): boolean {
  return rules.some((rule) => rule.subjects.some((subject) => isSubject(subject, user)) && ruleMatches(rule, info))
}

function isSubject(subject: FlowSubject, { name, groups }: User): boolean {
  switch (subject.kind) {
    case 'User':
      return subject.name === '*' || subject.name === name
    case 'Group':
      return subject.name === '*' || groups.includes(subject.name)
    case 'ServiceAccount': {
      const prefix = `system:serviceaccount:${subject.namespace}:`
      return subject.name === '*' ? name.startsWith(prefix) : name === `${prefix}${subject.name}`
    }
  }
}

function ruleMatches({ resourceRules, nonResourceRules }: FlowRule, info: RequestInfo): boolean {
  if (info.kind === 'resource') return resourceRules.some((rule) => resourceMatches(rule, info))
  return nonResourceRules.some(
    ({ verbs, nonResourceURLs }) => has(verbs, info.verb) && nonResourceURLs.some((url) => pathMatches(url, info.path)),
  )
}

function resourceMatches(rule: FlowResourceRule, { verb, group, resource, subresource, namespace }: ResourceInfo): boolean {
  const isPlace = namespace === '' ? rule.clusterScope : has(rule.namespaces, namespace)
  return (
    isPlace &&
    has(rule.verbs, verb) &&
    has(rule.apiGroups, group) &&
    has(rule.resources, subresource === '' ? resource : `${resource}/${subresource}`)
  )
}

function has(list: readonly string[], word: string): boolean {
  return list.includes('*') || list.includes(word)
}

/** `/healthz` matches only that path, `/healthz/*` all below it, `*` everything. */
function pathMatches(pattern: string, path: string): boolean {
  return pattern === '*' || pattern === path || (pattern.endsWith('/*') && path.startsWith(pattern.slice(0, -1)))
}
