import type { User } from '@orch/core/contracts'
import { jsonEqual } from '@orch/core/json'
import { type ApiObject, forbidden } from '@orch/core/meta'
import { compactRules, everything, missingRulesInSteps, type PolicyRule, printRule, printWords } from '@orch/core/rbac'
import { isOfType, requireType } from '@orch/core/schema'
import type { Pace } from '../request/pace.ts'
import type { Grants } from '../strategies/kind-rules.ts'
import type { Target } from '../target/target.ts'
import { type Authorizer, decide, isMaster } from './authorizer.ts'
import { type Roles, rulesOf } from './roles.ts'

/** Undefined if every request is allowed. */
export interface RoleParts {
  readonly authorizers: readonly Authorizer[]
  /** Undefined for a create. */
  readonly roles: Roles | undefined
  readonly pace: Pace
}

export interface RoleWrite {
  readonly user: User
  readonly target: Target
  readonly object: ApiObject
  /** Undefined if the request creates the object. */
  readonly live: ApiObject | undefined
}

/** Prevents escalation: refuses a role or a binding that grants permissions that its writer lacks. */
export function refuseGrant(grants: Grants, write: RoleWrite, parts: RoleParts): void | Promise<void> {
  const { roles } = parts
  if (roles === undefined || isMaster(write.user) || changesOnlyHolders(write)) return
  return grants === 'rules' ? refuseRole(write, roles, parts) : refuseBinding(write, roles, parts)
}

async function refuseRole({ user, target, object, live }: RoleWrite, roles: Roles, parts: RoleParts): Promise<void> {
  const { served, info } = target
  const name = object.metadata.name ?? ''
  const { group, resource } = served.name
  const namespace = served.resource.isNamespaced ? info.namespace : ''
  // The name in the request. A create has none, so that a permission for one role does not allow its create.
  const access = { kind: 'resource', verb: 'escalate', group, version: '*', namespace, resource, name: info.name, subresource: '' } as const
  if ((await decide(parts.authorizers, user, access)).kind === 'allow') return
  const refuse = (why: string) => forbidden(served.name, name, why)
  const problem = await escalationIn(rulesOf(object), { user, namespace, roles }, parts)
  if (problem !== undefined) throw refuse(problem)
  // The aggregated rules may be any rules.
  const gathers = [object, live].some(
    (role) => isOfType('rbac/v1.ClusterRole', role) && (role.aggregationRule?.clusterRoleSelectors ?? []).length > 0,
  )
  if (gathers && (await escalationIn(everything, { user, namespace: '', roles }, parts)) !== undefined) {
    throw refuse('must have cluster-admin privileges to use the aggregationRule')
  }
}

async function refuseBinding({ user, target, object }: RoleWrite, roles: Roles, parts: RoleParts): Promise<void> {
  const { served, info } = target
  const { roleRef } = isOfType('rbac/v1.RoleBinding', object) ? object : requireType('rbac/v1.ClusterRoleBinding', object)
  const resource = roleRef?.kind === 'Role' ? 'roles' : roleRef?.kind === 'ClusterRole' ? 'clusterroles' : undefined
  // Validation refuses a reference that names no role.
  if (resource === undefined) return
  const namespace = served.resource.isNamespaced ? info.namespace : ''
  const access = {
    kind: 'resource',
    verb: 'bind',
    group: roleRef.apiGroup,
    version: '*',
    namespace,
    resource,
    name: roleRef.name,
    subresource: '',
  } as const
  if ((await decide(parts.authorizers, user, access)).kind === 'allow') return
  const rules = await roles.rulesOfRole(roleRef, namespace)
  if (rules === undefined) throw roles.roleNotFound(roleRef)
  const problem = await escalationIn(rules, { user, namespace, roles }, parts)
  if (problem !== undefined) throw forbidden(served.name, object.metadata.name ?? '', problem)
}

/** The rules that the user lacks, as a text; undefined if all are held. */
async function escalationIn(
  rules: readonly PolicyRule[],
  { user, namespace, roles }: { readonly user: User; readonly namespace: string; readonly roles: Roles },
  { pace }: Pick<RoleParts, 'pace'>,
): Promise<string | undefined> {
  const held = roles.rulesOf(user, namespace)
  const missing = await pace.run(missingRulesInSteps(held.rules, rules))
  if (missing === undefined) return `user ${JSON.stringify(user.name)} is attempting to grant more permissions than can be compared`
  if (missing.length === 0) return undefined
  const lines = [...new Set(compactRules(missing).map(printRule))].sort()
  const trouble = held.error === undefined ? '' : `; resolution errors: [${held.error}]`
  const who = `user ${JSON.stringify(user.name)} (groups=${printWords(user.groups)})`
  return `${who} is attempting to grant RBAC permissions not currently held:\n${lines.join('\n')}${trouble}`
}

/** The garbage collector may release objects that others made. */
function changesOnlyHolders({ object, live }: RoleWrite): boolean {
  if (live === undefined) return false
  const plain = ({ metadata, ...rest }: ApiObject) => {
    const { ownerReferences: _owners, finalizers: _finalizers, managedFields: _managed, ...others } = metadata
    return { ...rest, metadata: others }
  }
  return jsonEqual(plain(object), plain(live))
}
