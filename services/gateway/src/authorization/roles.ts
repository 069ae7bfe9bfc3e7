import {
  allowsPath,
  allowsResource,
  type BindingObject,
  domainGroup,
  type Names,
  notFound,
  objectKey,
  type PolicyRule,
  type RoleObject,
  type RoleReference,
  type RoleSubject,
  type StatusError,
  type StorageService,
  type User,
} from '@orch/core'
import { type Clock, type Followed, type Following, follow, type Log } from '@orch/platform'
import type { Access, Authorizer, Decision, KnownRules } from './authorizer.ts'

export interface RolesOptions {
  readonly storage: StorageService
  readonly names: Names
  readonly clock: Clock
  readonly log: Log
  /** A number in [0, 1). */
  readonly random: () => number
}

/** Roles and bindings in memory, kept up to date by the changes of storage, and what they allow. */
export interface Roles extends Authorizer {
  /** Begins to follow storage; resolves when everything has been loaded once. Before that nothing is allowed. */
  load(): Promise<void>
  /** The rules of a role as it is at the latest revision; undefined: there is no such role. */
  rulesOfRole(reference: RoleReference, namespace: string): Promise<readonly PolicyRule[] | undefined>
  /** The error that says that a role is not there. */
  roleNotFound(reference: RoleReference): StatusError
  close(): void
}

/** What one binding gives to one of its subjects. */
interface Grant {
  readonly bindingKey: string
  readonly isInAll: boolean
  readonly roleKey: string
  readonly reference: RoleReference
  /** `ClusterRoleBinding "x" of ClusterRole "y" to User "z"` */
  readonly text: string
}

/** A binding as it is remembered. */
interface Binding {
  readonly grants: readonly { readonly subject: string; readonly grant: Grant }[]
}

/**
 * The index: grants by namespace and subject, so that a request costs as much as its user has bindings, however many there are.
 *
 *   '/group:system:masters' → [cluster-admin]      'team-a/user:jane' → [edit of team-a]
 */
export function openRoles({ storage, names, clock, log, random }: RolesOptions): Roles {
  const group = domainGroup(names, 'rbac.authorization')
  const closed = new AbortController()
  const followed = <T>(plural: string, decode: (value: Uint8Array, key: string) => T) =>
    follow({ storage, clock, log, random, resource: `${group}/${plural}`, decode, signal: closed.signal })
  const roleKeyOf = ({ kind, name }: RoleReference, namespace: string) =>
    kind === 'Role' ? objectKey(`${group}/roles`, namespace, name) : objectKey(`${group}/clusterroles`, undefined, name)
  const index = new Map<string, Grant[]>()
  let roles: Following<readonly PolicyRule[]> | undefined
  let clusterRoles: Following<readonly PolicyRule[]> | undefined
  const load = async (): Promise<void> => {
    roles = followed('roles', rulesIn)
    clusterRoles = followed('clusterroles', rulesIn)
    const bindings = [followed('rolebindings', decodeBinding), followed('clusterrolebindings', decodeBinding)]
    for (const collection of bindings) collection.onChange((change) => reindex(index, change))
    await Promise.all([roles, clusterRoles, ...bindings].map(({ ready }) => ready))
  }
  let loaded: Promise<void> | undefined

  function decodeBinding(value: Uint8Array, bindingKey: string): Binding {
    const { kind, metadata, subjects, roleRef } = parse<BindingObject>(value)
    const namespace = metadata.namespace ?? ''
    const roleKey = roleKeyOf(roleRef, namespace)
    const isInAll = namespace === ''
    const title = `${kind} ${JSON.stringify(isInAll ? metadata.name : `${metadata.name}/${namespace}`)} of ${roleRef.kind} ${JSON.stringify(roleRef.name)}`
    const grants = (subjects ?? []).flatMap((subject) => {
      const key = subjectKey(subject, namespace)
      if (key === undefined) return []
      const grant = { bindingKey, isInAll, roleKey, reference: roleRef, text: `${title} to ${printSubject(subject, namespace)}` }
      return [{ subject: `${namespace}/${key}`, grant }]
    })
    return { grants }
  }

  const rulesBehind = ({ reference, roleKey }: Grant) => (reference.kind === 'Role' ? roles : clusterRoles)?.get(roleKey)
  const roleNotFound = ({ kind, name }: RoleReference) => notFound({ group, resource: kind.toLowerCase() }, name)

  /** Calls back with each grant of a user until it is told that it is enough; gives the errors on the way. */
  const visit = (user: User, namespace: string, take: (rules: readonly PolicyRule[], grant: Grant) => boolean): string[] => {
    const errors: string[] = []
    const places = namespace === '' ? allPlaces : ['', namespace]
    for (const place of places) {
      for (let at = -1; at < user.groups.length; at++) {
        const subject = at < 0 ? `${place}/user:${user.name}` : `${place}/group:${user.groups[at]}`
        for (const grant of index.get(subject) ?? []) {
          const rules = rulesBehind(grant)
          if (rules === undefined) errors.push(roleNotFound(grant.reference).message)
          else if (take(rules, grant)) return errors
        }
      }
    }
    return errors
  }

  return {
    load() {
      loaded ??= load()
      return loaded
    },
    authorize(user, access): Decision {
      let allowing: Grant | undefined
      const errors = visit(user, access.kind === 'path' ? '' : access.namespace, (rules, grant) => {
        if (!rules.some((rule) => allows(rule, access))) return false
        allowing = grant
        return true
      })
      if (allowing !== undefined) return allowedBy(allowing)
      return { kind: 'noOpinion', reason: errors.length === 0 ? '' : `RBAC: ${printErrors(errors)}` }
    },
    rulesOf(user, namespace): KnownRules {
      const found: PolicyRule[] = []
      const errors = visit(user, namespace, (rules, { isInAll }) => {
        // Paths are given for the whole cluster only.
        found.push(...(isInAll ? rules : rules.filter(({ nonResourceURLs = [] }) => nonResourceURLs.length === 0)))
        return false
      })
      return errors.length === 0 ? { rules: found } : { rules: found, error: printErrors(errors) }
    },
    async rulesOfRole(reference, namespace) {
      const { entry } = await storage.get({ key: roleKeyOf(reference, namespace), read: { kind: 'latest' } })
      return entry === undefined ? undefined : rulesIn(entry.value)
    },
    roleNotFound,
    close: () => closed.abort(),
  }
}

const allPlaces = ['']

function reindex(index: Map<string, Grant[]>, { key, before, after }: Followed<Binding>): void {
  for (const subject of new Set(before?.grants.map((grant) => grant.subject))) {
    const left = (index.get(subject) ?? []).filter(({ bindingKey }) => bindingKey !== key)
    if (left.length === 0) index.delete(subject)
    else index.set(subject, left)
  }
  for (const { subject, grant } of after?.grants ?? []) {
    const known = index.get(subject)
    if (known === undefined) index.set(subject, [grant])
    else known.push(grant)
  }
}

function allows(rule: PolicyRule, access: Access): boolean {
  return access.kind === 'path' ? allowsPath(rule, access.verb, access.path) : allowsResource(rule, access)
}

const decisions = new WeakMap<Grant, Decision>()

function allowedBy(grant: Grant): Decision {
  const known = decisions.get(grant)
  if (known !== undefined) return known
  const decision: Decision = { kind: 'allow', reason: `RBAC: allowed by ${grant.text}` }
  decisions.set(grant, decision)
  return decision
}

/** Service accounts are users with a name of a certain form. */
function subjectKey({ kind, name, namespace }: RoleSubject, bindingNamespace: string): string | undefined {
  switch (kind) {
    case 'User':
      return `user:${name}`
    case 'Group':
      return `group:${name}`
    case 'ServiceAccount': {
      const place = namespace || bindingNamespace
      return place === '' ? undefined : `user:system:serviceaccount:${place}:${name}`
    }
    default:
      return undefined
  }
}

function printSubject({ kind, name, namespace }: RoleSubject, bindingNamespace: string): string {
  return `${kind} ${JSON.stringify(kind === 'ServiceAccount' ? `${name}/${namespace || bindingNamespace}` : name)}`
}

function printErrors(errors: readonly string[]): string {
  const distinct = [...new Set(errors)]
  return distinct.length === 1 ? (distinct[0] as string) : `[${distinct.join(', ')}]`
}

function rulesIn(value: Uint8Array): readonly PolicyRule[] {
  return parse<RoleObject>(value).rules ?? []
}

const decoder = new TextDecoder()

/** Storage holds nothing but objects that the gateway has checked. */
function parse<T>(value: Uint8Array): T {
  return JSON.parse(decoder.decode(value)) as T
}
