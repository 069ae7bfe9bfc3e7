import { objectKey, type User } from '@orch/core/contracts'
import { decodeText, parseBytes } from '@orch/core/json'
import { boundedMemo, getOrMake, memo } from '@orch/core/memo'
import { notFound, type StatusError } from '@orch/core/meta'
import { domainGroup } from '@orch/core/names'
import { allowsPath, allowsResource, type PolicyRule, type RoleReference, type RoleSubject } from '@orch/core/rbac'
import { type BuiltIn, isOfType, requireType } from '@orch/core/schema'
import { ended, Reflector, type ReflectorChange, type ReflectorReading, type Stored } from '@orch/platform'
import type { Surroundings } from '../surroundings.ts'
import type { Access, Authorizer, Decision, KnownRules } from './authorizer.ts'

/** The sources of roles and bindings. */
export type RolesOptions = Pick<Surroundings, 'storage' | 'names' | 'clock' | 'log' | 'random'>

/** A grant of one binding to one of its subjects. */
interface Grant {
  readonly bindingKey: string
  readonly isInAll: boolean
  readonly roleKey: string
  readonly reference: RoleReference
  /** `ClusterRoleBinding "x" of ClusterRole "y" to User "z"` */
  readonly text: string
}

/** A cached binding: its namespace, and the grant of each subject. */
interface Binding {
  readonly place: string
  readonly grants: ReadonlyMap<string, Grant>
}

/**
 * Roles and bindings in memory, updated by changes of storage, with the rights that they grant. Grants are indexed by namespace and subject, so that the
 * cost of a request depends only on the bindings of its user. Most namespaces have none.
 *
 *   '' → 'group:system:masters' → [cluster-admin]      'team-a' → 'user:jane' → [edit of team-a]
 */
export class Roles implements Authorizer {
  readonly #options: RolesOptions
  readonly #group: string
  readonly #closed = new AbortController()
  readonly #grants = new Map<string, Map<string, Grant[]>>()
  /** Additional rules of users, by name. */
  readonly #given = new Map<string, { readonly rules: readonly PolicyRule[]; readonly grant: Grant }>()
  #roles: Reflector<KeptRole> | undefined
  #clusterRoles: Reflector<KeptRole> | undefined
  #loaded: Promise<void> | undefined

  constructor(options: RolesOptions) {
    this.#options = options
    this.#group = domainGroup(options.names, 'rbac.authorization')
  }

  /** Starts to watch storage; resolves when everything has been loaded. Before that nothing is allowed. */
  load(): Promise<void> {
    this.#loaded ??= this.#load()
    return this.#loaded
  }

  authorize(user: User, access: Access): Decision {
    let allowing: Grant | undefined
    const errors = this.#visit(user, access.kind === 'path' ? '' : access.namespace, (rules, grant) => {
      if (!rules.some((rule) => (access.kind === 'path' ? allowsPath(rule, access.verb, access.path) : allowsResource(rule, access))))
        return false
      allowing = grant
      return true
    })
    if (allowing !== undefined) return allowedBy(allowing)
    return { kind: 'noOpinion', reason: errors.length === 0 ? '' : `RBAC: ${printErrors(errors)}` }
  }

  rulesOf(user: User, namespace: string): KnownRules {
    const found: PolicyRule[] = []
    const errors = this.#visit(user, namespace, (rules, { isInAll }) => {
      // Paths are granted in the whole cluster only.
      found.push(...(isInAll ? rules : rules.filter(({ nonResourceURLs = [] }) => nonResourceURLs.length === 0)))
      return false
    })
    return errors.length === 0 ? { rules: found } : { rules: found, error: printErrors(errors) }
  }

  /** Gives a user rules in all namespaces without an object, so that a reset does not remove them. */
  give(user: string, rules: readonly PolicyRule[]): void {
    const text = `rules of server.user(${JSON.stringify(user)})`
    const reference = { apiGroup: this.#group, kind: 'ClusterRole', name: '' }
    this.#given.set(user, { rules, grant: { bindingKey: '', isInAll: true, roleKey: '', reference, text } })
  }

  /** The rules of a role at the latest revision; undefined for an absent role. */
  async rulesOfRole(reference: RoleReference, namespace: string): Promise<readonly PolicyRule[] | undefined> {
    const { entry } = await this.#options.storage.get({ key: roleKeyOf(reference, namespace, this.#group), read: { kind: 'latest' } })
    return entry === undefined ? undefined : rulesIn(entry.value)
  }

  /** The error for an absent role. */
  roleNotFound({ kind, name }: RoleReference): StatusError {
    return notFound({ group: this.#group, resource: kind.toLowerCase() }, name)
  }

  close(): void {
    this.#closed.abort(ended)
  }

  async #load(): Promise<void> {
    const keep = (stored: Stored) => new KeptRole(stored)
    this.#roles = this.#reflect('roles', { keep })
    this.#clusterRoles = this.#reflect('clusterroles', { keep })
    const group = this.#group
    const decode = (value: Uint8Array, key: string) => bindingOf(value, { key, group })
    const bindings = [this.#reflect('rolebindings', { decode }), this.#reflect('clusterrolebindings', { decode })]
    for (const reflector of bindings) reflector.onChange((change) => this.#reindex(change))
    await Promise.all([this.#roles, this.#clusterRoles, ...bindings].map(({ ready }) => ready))
  }

  #reflect<T>(plural: string, reading: ReflectorReading<T>): Reflector<T> {
    const { storage, clock, log, random } = this.#options
    return new Reflector({ storage, clock, log, random, resource: `${this.#group}/${plural}`, ...reading, signal: this.#closed.signal })
  }

  #reindex({ key, before, after }: ReflectorChange<Binding>): void {
    if (before !== undefined) this.#dropGrants(before, key)
    if (after !== undefined) this.#addGrants(after)
  }

  #dropGrants({ place, grants }: Binding, key: string): void {
    const ofPlace = this.#grants.get(place)
    if (ofPlace === undefined) return
    for (const subject of grants.keys()) {
      const left = ofPlace.get(subject)?.filter(({ bindingKey }) => bindingKey !== key) ?? []
      if (left.length > 0) ofPlace.set(subject, left)
      else ofPlace.delete(subject)
    }
    if (ofPlace.size === 0) this.#grants.delete(place)
  }

  #addGrants({ place, grants }: Binding): void {
    if (grants.size === 0) return
    const ofPlace = getOrMake(this.#grants, place, () => new Map<string, Grant[]>())
    for (const [subject, grant] of grants) {
      getOrMake(ofPlace, subject, () => []).push(grant)
    }
  }

  /** Calls back with each grant of a user until the callback returns true; returns the errors on the way. */
  #visit(user: User, namespace: string, take: (rules: readonly PolicyRule[], grant: Grant) => boolean): string[] {
    const errors: string[] = []
    const given = this.#given.size === 0 ? undefined : this.#given.get(user.name)
    if (given !== undefined && take(given.rules, given.grant)) return errors
    const places = namespace === '' ? allPlaces : ['', namespace]
    for (const place of places) {
      const ofPlace = this.#grants.get(place)
      if (ofPlace === undefined) continue
      for (const subject of subjectsOf(user)) {
        const grants = ofPlace.get(subject) ?? []
        // Thousands of bindings may grant the same role.
        const seen = grants.length > fewGrants ? new Set<string>() : undefined
        for (const grant of grants) {
          if (seen?.has(grant.roleKey)) continue
          seen?.add(grant.roleKey)
          const roles = grant.reference.kind === 'Role' ? this.#roles : this.#clusterRoles
          const rules = roles?.get(grant.roleKey)?.rules
          if (rules === undefined) errors.push(this.roleNotFound(grant.reference).message)
          else if (take(rules, grant)) return errors
        }
      }
    }
    return errors
  }
}

const allPlaces = ['']
/** Maximum number of a subject's grants that are checked one by one; among more, each role is checked once. */
const fewGrants = 16

/** The subjects of bindings that mean the user. */
const subjectsOf = memo(({ name, groups }: User): readonly string[] => [`user:${name}`, ...groups.map((group) => `group:${group}`)])

/** A role whose rules are parsed when a request needs them, as most bootstrap roles are never used. */
class KeptRole {
  #stored: Stored | undefined
  #rules: readonly PolicyRule[] = []

  constructor(stored: Stored) {
    this.#stored = stored
  }

  get rules(): readonly PolicyRule[] {
    if (this.#stored !== undefined) this.#rules = rulesIn(this.#stored.value)
    this.#stored = undefined
    return this.#rules
  }
}

/** The decision of a grant, which is named in the log. */
const allowedBy = memo((grant: Grant): Decision => ({ kind: 'allow', reason: `RBAC: allowed by ${grant.text}` }))

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
  const text = distinct.join(', ')
  return distinct.length === 1 ? text : `[${text}]`
}

function rulesIn(value: Uint8Array): readonly PolicyRule[] {
  return rulesOf(parseBytes(value))
}

/** The permissions of a Role or ClusterRole. */
export function rulesOf(role: unknown): readonly PolicyRule[] {
  const { rules } = isOfType('rbac/v1.Role', role) ? role : requireType('rbac/v1.ClusterRole', role)
  return (rules ?? []).map(({ verbs, ...rule }) => ({ verbs: verbs ?? [], ...rule }))
}

/** Bindings that servers of one process remember: those of a start, and some more. */
const knownBindingsMax = 256
/** Longest remembered text. */
const knownBytesMax = 2_048

/** The binding of a text, which names its group, so that servers with the same objects share it. */
const knownBinding = boundedMemo(knownBindingsMax, readBinding)

interface BindingPlace {
  readonly key: string
  readonly group: string
}

function bindingOf(value: Uint8Array, place: BindingPlace): Binding {
  const read = value.length > knownBytesMax ? readBinding : knownBinding
  return read(decodeText(value), place)
}

function readBinding(text: string, { key: bindingKey, group }: BindingPlace): Binding {
  const { kind, metadata, subjects, roleRef } = parseBinding(text)
  const namespace = metadata.namespace ?? ''
  const roleKey = roleKeyOf(roleRef, namespace, group)
  const isInAll = namespace === ''
  const title = `${kind} ${JSON.stringify(isInAll ? metadata.name : `${metadata.name}/${namespace}`)} of ${roleRef.kind} ${JSON.stringify(roleRef.name)}`
  const grants = new Map<string, Grant>()
  for (const subject of subjects ?? []) {
    const key = subjectKey(subject, namespace)
    if (key === undefined || grants.has(key)) continue
    grants.set(key, { bindingKey, isInAll, roleKey, reference: roleRef, text: `${title} to ${printSubject(subject, namespace)}` })
  }
  return { place: namespace, grants }
}

function roleKeyOf({ kind, name }: RoleReference, namespace: string, group: string): string {
  return kind === 'Role' ? objectKey(`${group}/roles`, namespace, name) : objectKey(`${group}/clusterroles`, undefined, name)
}

function parseBinding(text: string): BuiltIn<'rbac/v1.RoleBinding' | 'rbac/v1.ClusterRoleBinding'> {
  const binding: unknown = JSON.parse(text)
  return isOfType('rbac/v1.RoleBinding', binding) ? binding : requireType('rbac/v1.ClusterRoleBinding', binding)
}
