import type { User } from '@orch/core/contracts'
import type { RequestInfo, ResourceInfo } from '../request/request-info.ts'
import type { AuditLevel, AuditPolicy, AuditResources, AuditRule, AuditStage } from './policy.ts'

/** The audit level and stages of one request. */
export interface AuditDecision {
  readonly level: AuditLevel
  readonly omitStages: ReadonlySet<AuditStage>
  readonly omitManagedFields: boolean
}

/** The first matching rule decides; a request without one is not recorded. */
export function createDecider(policy: AuditPolicy): (user: User, info: RequestInfo) => AuditDecision {
  const nothing: AuditDecision = { level: 'None', omitStages: new Set(), omitManagedFields: false }
  const decisions = policy.rules.map((rule) => ({
    rule,
    decision: {
      level: rule.level,
      omitStages: new Set([...policy.omitStages, ...rule.omitStages]),
      omitManagedFields: rule.omitManagedFields ?? policy.omitManagedFields,
    },
  }))
  return (user, info) => {
    for (const { rule, decision } of decisions) if (matches(rule, user, info)) return decision
    return nothing
  }
}

function matches(rule: AuditRule, user: User, info: RequestInfo): boolean {
  if (rule.users.length > 0 && !rule.users.includes(user.name)) return false
  if (rule.userGroups.length > 0 && !user.groups.some((group) => rule.userGroups.includes(group))) return false
  if (rule.verbs.length > 0 && !rule.verbs.includes(info.verb)) return false
  if (rule.namespaces.length > 0 || rule.resources.length > 0) return info.kind === 'resource' && matchesResource(rule, info)
  if (rule.nonResourceURLs.length > 0) return info.kind === 'path' && rule.nonResourceURLs.some((url) => matchesPath(url, info.path))
  return true
}

function matchesResource({ namespaces, resources }: AuditRule, info: ResourceInfo): boolean {
  if (namespaces.length > 0 && !namespaces.includes(info.namespace)) return false
  return resources.length === 0 || resources.some((one) => isAmong(one, info))
}

function isAmong({ group, resources, resourceNames }: AuditResources, info: ResourceInfo): boolean {
  if (group !== info.group) return false
  if (resources.length === 0) return true
  if (resourceNames.length > 0 && !resourceNames.includes(info.name)) return false
  return resources.some((pattern) => matchesName(pattern, info))
}

/** `*` matches everything, `pods` only the objects, `pods/log` one subresource, `pods/*` objects and subresources, `*` + `/status` that subresource of all. */
function matchesName(pattern: string, { resource, subresource }: ResourceInfo): boolean {
  if (pattern === '*' || pattern === (subresource === '' ? resource : `${resource}/${subresource}`)) return true
  if (pattern.startsWith('*/')) return subresource !== '' && pattern.slice(2) === subresource
  return pattern.endsWith('/*') && pattern.slice(0, -2) === resource
}

function matchesPath(pattern: string, path: string): boolean {
  return pattern.endsWith('*') ? path.startsWith(pattern.slice(0, -1)) : path === pattern
}
