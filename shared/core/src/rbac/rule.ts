import type { ApiObject } from '../meta/object-meta.ts'
import type { BuiltIn } from '../schema/built-in.ts'

/** A permission of a role: verbs on resources, or verbs on non-resource paths. */
export interface PolicyRule {
  readonly verbs: readonly string[]
  readonly apiGroups?: readonly string[] | undefined
  readonly resources?: readonly string[] | undefined
  /** Undefined or empty for every name. */
  readonly resourceNames?: readonly string[] | undefined
  readonly nonResourceURLs?: readonly string[] | undefined
}

/** The permission to do everything. */
export const everything: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
]

/** A user, group or account that has a role. */
export type RoleSubject = BuiltIn<'rbac/v1.Subject'>

/** A binding's reference to its role. */
export type RoleReference = BuiltIn<'rbac/v1.RoleRef'>

/** A Role or ClusterRole. */
export interface RoleObject extends ApiObject {
  readonly rules?: readonly PolicyRule[] | null
  readonly aggregationRule?: AggregationRule | null
}

/** Selectors of the cluster roles that an aggregated role collects. */
export type AggregationRule = BuiltIn<'rbac/v1.AggregationRule'>

/** A RoleBinding or ClusterRoleBinding. */
export interface BindingObject extends ApiObject {
  readonly subjects?: readonly RoleSubject[] | null
  readonly roleRef: RoleReference
}

/** An access to a resource; `name` is '' for a collection. */
export interface ResourceAccess {
  readonly verb: string
  readonly group: string
  readonly resource: string
  readonly subresource: string
  readonly name: string
}

const all = '*'

/** True if a rule allows an access to a resource. */
export function allowsResource(rule: PolicyRule, { verb, group, resource, subresource, name }: ResourceAccess): boolean {
  return (
    includesOrAll(rule.verbs, verb) &&
    includesOrAll(rule.apiGroups, group) &&
    allowsPart(rule.resources, resource, subresource) &&
    (rule.resourceNames === undefined || rule.resourceNames.length === 0 || rule.resourceNames.includes(name))
  )
}

/** True if a rule allows a verb on a non-resource path. A `*` at the end of the rule's path matches any rest. */
export function allowsPath(rule: PolicyRule, verb: string, path: string): boolean {
  return includesOrAll(rule.verbs, verb) && (rule.nonResourceURLs ?? []).some((pattern) => coversPath(pattern, path))
}

/** True if a pattern such as `/healthz/*` matches a path. */
export function coversPath(pattern: string, path: string): boolean {
  return pattern === path || pattern === all || (pattern.endsWith(all) && path.startsWith(pattern.replace(/(?<!\*)\*+$/, '')))
}

function includesOrAll(list: readonly string[] | undefined, word: string): boolean {
  return list !== undefined && (list.includes(word) || list.includes(all))
}

/** True for a resource, one subresource, or one subresource of every resource; `pods` does not include `pods/log`, and `pods/*` matches nothing. */
function allowsPart(resources: readonly string[] | undefined, resource: string, subresource: string): boolean {
  if (resources === undefined) return false
  if (resources.includes(all)) return true
  if (subresource === '') return resources.includes(resource)
  return resources.includes(`${resource}/${subresource}`) || resources.includes(`*/${subresource}`)
}
