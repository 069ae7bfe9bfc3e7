import type { User } from '@orch/core/contracts'
import { checkSubdomain } from '@orch/core/meta'
import { domainGroup, type Names, subdomainLabel } from '@orch/core/names'
import { accountGroups } from '@orch/core/tokens'
import type { Access, ResourceInfoAccess } from '../authorization/authorizer.ts'

/** One mode of impersonation. */
export interface Impersonation {
  /** The user for the rest of the request. */
  readonly user: User
  /** The caller for authorizers. */
  readonly caller: User
  /** The accesses that the caller needs, all of which must be allowed. */
  readonly accesses: readonly Access[]
  /** The verb that restricts it to certain requests; '' for all requests. */
  readonly constraint: string
}

/** The caller's request. */
export interface ImpersonationQuestion {
  readonly caller: User
  /** The user from the headers, without groups that follow from the name. */
  readonly asked: User
  /** The access of the request itself. */
  readonly access: Access
  readonly names: Names
}

type Mode = 'associated-node' | 'arbitrary-node' | 'serviceaccount' | 'user-info'

const authenticated = 'system:authenticated'
const unauthenticated = 'system:unauthenticated'
const nodePrefix = 'system:node:'

/** The verb `impersonate`, for all requests of the caller. */
export function unconstrained({ caller, asked, names }: ImpersonationQuestion): Impersonation {
  const account = parseServiceAccount(asked.name)
  const groups = asked.groups.length === 0 && account !== undefined ? accountGroups(account.namespace) : asked.groups
  return {
    user: { ...asked, groups: withImplied(asked.name, groups) },
    caller,
    accesses: accessesFor(asked, { verb: 'impersonate', group: '', names }),
    constraint: '',
  }
}

/** Modes for requests of one verb and resource, in the order of attempts. */
export function constrained(question: ImpersonationQuestion): readonly Impersonation[] {
  const { caller, asked } = question
  const node = nodeOf(asked.name)
  const account = parseServiceAccount(asked.name)
  if (node === undefined && account === undefined) return isFit(asked) ? [inMode('user-info', question, asked.groups)] : []
  // Groups and attributes of a node and a service account follow from their names.
  if (asked.groups.length > 0 || asked.uid !== '' || Object.keys(asked.extra).length > 0) return []
  if (account !== undefined) return [inMode('serviceaccount', question, accountGroups(account.namespace))]
  const groups = ['system:nodes']
  const arbitrary = inMode('arbitrary-node', question, groups)
  if (node === undefined || !isOnNode(caller, node, question.names)) return [arbitrary]
  return [inMode('associated-node', { ...question, caller: withoutNode(caller, question.names) }, groups), arbitrary]
}

function inMode(mode: Mode, { caller, asked, access, names }: ImpersonationQuestion, groups: readonly string[]): Impersonation {
  const verb = `impersonate:${mode}`
  const node = nodeOf(asked.name)
  const identity = accessesFor(asked, { verb, group: domainGroup(names, 'authentication'), names })
  const onNode = anAccess({
    verb,
    group: domainGroup(names, 'authentication'),
    resource: 'nodes',
    // A caller on a node may be allowed to impersonate its own node.
    name: mode === 'associated-node' ? '*' : (node ?? ''),
  })
  return {
    user: { ...asked, groups: withImplied(asked.name, groups) },
    caller,
    accesses: [{ ...access, verb: `impersonate-on:${mode}:${access.verb}` }, ...(node === undefined ? identity : [onNode])],
    constraint: verb,
  }
}

function accessesFor(
  { name, uid, groups, extra }: User,
  { verb, group, names }: { readonly verb: string; readonly group: string; readonly names: Names },
): ResourceInfoAccess[] {
  const ofUsers = domainGroup(names, 'authentication')
  const account = parseServiceAccount(name)
  return [
    account === undefined
      ? anAccess({ verb, group, resource: 'users', name })
      : anAccess({ verb, group, resource: 'serviceaccounts', namespace: account.namespace, name: account.name }),
    ...groups.map((name) => anAccess({ verb, group, resource: 'groups', name })),
    ...(uid === '' ? [] : [anAccess({ verb, group: ofUsers, resource: 'uids', name: uid })]),
    ...Object.entries(extra).flatMap(([key, values]) =>
      values.map((name) => anAccess({ verb, group: ofUsers, resource: 'userextras', subresource: key, name })),
    ),
  ]
}

function anAccess(access: Pick<ResourceInfoAccess, 'verb'> & Partial<ResourceInfoAccess>): ResourceInfoAccess {
  return { kind: 'resource', group: '', version: 'v1', namespace: '', resource: '', subresource: '', name: '', ...access }
}

/** Administrators cannot be impersonated in this mode, and extra attributes must be well-formed. */
function isFit({ groups, extra }: User): boolean {
  if (groups.includes('system:masters')) return false
  return Object.entries(extra).every(([key, values]) => isDomainPath(key) && values.length > 0)
}

/** Lower case, such as `acme.com/project`. */
function isDomainPath(key: string): boolean {
  const slash = key.indexOf('/')
  return slash > 0 && checkSubdomain(key.slice(0, slash)).length === 0 && /^[a-z0-9/\-._~%!$&'()*+,;=:]+$/.test(key.slice(slash + 1))
}

/** `system:serviceaccount:<namespace>:<name>`. */
function parseServiceAccount(user: string): { readonly namespace: string; readonly name: string } | undefined {
  const match = /^system:serviceaccount:([a-z0-9]([-a-z0-9]*[a-z0-9])?):([a-z0-9]([-a-z0-9.]*[a-z0-9])?)$/.exec(user)
  if (match === null) return undefined
  const [, namespace = '', , name = ''] = match
  return { namespace, name }
}

/** The node name of a user; undefined for other users. */
function nodeOf(user: string): string | undefined {
  if (!user.startsWith(nodePrefix)) return undefined
  const name = user.slice(nodePrefix.length)
  return checkSubdomain(name).length === 0 ? name : undefined
}

/** True if the caller is a service account whose token is bound to that node. */
function isOnNode({ name, extra }: User, node: string, names: Names): boolean {
  const nodes = extra[subdomainLabel(names, 'authentication', 'node-name')] ?? []
  return parseServiceAccount(name) !== undefined && nodes.length === 1 && nodes[0] === node
}

/** The caller's node has been checked: the caller is equal on all nodes. */
function withoutNode(caller: User, names: Names): User {
  const key = subdomainLabel(names, 'authentication', 'associated-node-keys')
  return { ...caller, extra: { [key]: Object.keys(caller.extra).sort() } }
}

/** Every user is in one of the two groups, unless the caller names one of them. */
function withImplied(name: string, groups: readonly string[]): readonly string[] {
  if (groups.includes(unauthenticated)) return groups
  if (name === 'system:anonymous') return [...groups, unauthenticated]
  return groups.includes(authenticated) ? groups : [...groups, authenticated]
}
