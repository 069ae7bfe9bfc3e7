import type { Client } from '@orch/client'
import { getOrMake } from '@orch/core/memo'
import type { ApiObject } from '@orch/core/meta'
import { domainGroup, type Names } from '@orch/core/names'
import { allowsResource, type BindingObject, type PolicyRule, type RoleObject, type RoleSubject } from '@orch/core/rbac'
import type { DumpedObject } from '../load/dumped-object.ts'
import { type AccessFinding, itemsOf } from './findings.ts'
import type { TwoServers } from './object-trials.ts'

/** Kinds of roles and of bindings. */
export const roleKinds = ['Role', 'ClusterRole', 'RoleBinding', 'ClusterRoleBinding']

/** The stored objects of one resource in one namespace; '' for cluster-scoped objects. */
interface Place {
  readonly group: string
  readonly plural: string
  readonly namespace: string
  readonly names: string[]
}

/** A change of the right to one verb in one place. */
interface PlaceChange extends Pick<AccessFinding, 'change' | 'objects'> {
  readonly verb: string
  readonly place: Place
}

/** Roles and bindings of a server by kind and name. */
type Grants = ReadonlyMap<string, RoleObject & Partial<BindingObject>>

/** Compares the rights of all accounts that a changed role or binding affects, for all stored objects. */
export async function findAccessChanges(servers: TwoServers, stored: readonly DumpedObject[], names: Names): Promise<AccessFinding[]> {
  const group = domainGroup(names, 'rbac.authorization')
  const reviews = domainGroup(names, 'authorization')
  const [before, after] = [await grantsOf(servers.before, group), await grantsOf(servers.after, group)]
  const places = await placesOf(servers.before, stored)
  const found: AccessFinding[] = []
  for (const [account, subject] of subjectsOf(before, after)) {
    const rulesBefore = new AccountRules({ client: servers.before, group: reviews }, subject)
    const rulesAfter = new AccountRules({ client: servers.after, group: reviews }, subject)
    const byResource = new Map<string, PlaceChange[]>()
    for (const place of places) {
      const [old, next] = [await rulesBefore.in(place.namespace), await rulesAfter.in(place.namespace)]
      if (JSON.stringify(old) === JSON.stringify(next)) continue
      const key = `${place.group}/${place.plural}`
      byResource.set(key, [...(byResource.get(key) ?? []), ...changesAt(place, old, next)])
    }
    for (const changes of byResource.values()) found.push(...merged(account, changes))
  }
  return found
}

/** Verbs on one object, and verbs on a collection, which cannot be restricted by name. */
const objectVerbs = ['get', 'update', 'patch', 'delete']
const verbs = [...objectVerbs, 'list', 'watch', 'create', 'deletecollection']

function changesAt(place: Place, old: readonly PolicyRule[], next: readonly PolicyRule[]): PlaceChange[] {
  const { group, plural: resource, names } = place
  return verbs.flatMap((verb): PlaceChange[] => {
    const isOfObject = objectVerbs.includes(verb)
    const allowed = (rules: readonly PolicyRule[]) =>
      new Set(
        names.filter((name) =>
          rules.some((rule) => allowsResource(rule, { verb, group, resource, subresource: '', name: isOfObject ? name : '' })),
        ),
      )
    const [could, can] = [allowed(old), allowed(next)]
    const changes = [
      { change: 'loses', objects: countBeside(could, can) } as const,
      { change: 'gains', objects: countBeside(can, could) } as const,
    ]
    return changes.filter(({ objects }) => objects > 0).map((change) => ({ ...change, verb, place }))
  })
}

/** The number of names that another set lacks. */
function countBeside(names: ReadonlySet<string>, others: ReadonlySet<string>): number {
  return [...names].filter((name) => !others.has(name)).length
}

/** Merges verbs with the same change in the same places into one finding. */
function merged(account: string, changes: readonly PlaceChange[]): AccessFinding[] {
  const byVerb = new Map<string, Omit<AccessFinding, 'verbs'>>()
  for (const { change, verb, place, objects } of changes) {
    const key = `${change} ${verb}`
    const known = byVerb.get(key)
    const resource = place.group === '' ? place.plural : `${place.plural}.${place.group}`
    const namespaces = place.namespace === '' ? [] : [place.namespace]
    byVerb.set(key, {
      ...{ account, change, resource },
      namespaces: [...(known?.namespaces ?? []), ...namespaces],
      objects: (known?.objects ?? 0) + objects,
    })
  }
  const byPlaces = new Map<string, AccessFinding>()
  for (const [key, finding] of byVerb) {
    const verb = key.slice(key.indexOf(' ') + 1)
    const same = JSON.stringify([finding.change, finding.namespaces, finding.objects])
    byPlaces.set(same, { ...finding, verbs: [...(byPlaces.get(same)?.verbs ?? []), verb] })
  }
  return [...byPlaces.values()]
}

async function placesOf(client: Client, stored: readonly DumpedObject[]): Promise<Place[]> {
  const { resources } = await client.discoverVersions()
  const byKind = new Map(resources.map((one) => [`${one.group === '' ? one.version : `${one.group}/${one.version}`} ${one.kind}`, one]))
  const places = new Map<string, Place>()
  for (const { apiVersion, kind, namespace = '', name } of stored) {
    const resource = byKind.get(`${apiVersion} ${kind}`)
    if (resource === undefined) continue
    const { group, plural } = resource
    const key = `${group}/${plural}/${namespace}`
    const place = places.get(key) ?? { group, plural, namespace, names: [] }
    place.names.push(name)
    places.set(key, place)
  }
  return [...places.values()]
}

async function grantsOf(client: Client, group: string): Promise<Grants> {
  const found = new Map<string, RoleObject & Partial<BindingObject>>()
  for (const kind of roleKinds) {
    const resource = { group, version: 'v1', plural: `${kind.toLowerCase()}s`, namespaced: !kind.startsWith('Cluster') }
    const items: readonly (ApiObject & Partial<BindingObject>)[] = await itemsOf(client, resource)
    for (const item of items) found.set(`${kind} ${item.metadata.namespace ?? ''}/${item.metadata.name}`, item)
  }
  return found
}

/** The accounts in changed bindings, and in bindings of changed roles, each as text. */
function subjectsOf(before: Grants, after: Grants): Map<string, RoleSubject> {
  const isChanged = (key: string) => textOf(before.get(key)) !== textOf(after.get(key))
  const subjects = new Map<string, RoleSubject>()
  for (const grants of [before, after]) {
    for (const [key, { metadata, roleRef, subjects: own }] of grants) {
      if (roleRef === undefined) continue
      const role = `${roleRef.kind} ${roleRef.kind === 'Role' ? metadata.namespace : ''}/${roleRef.name}`
      if (!isChanged(key) && !isChanged(role)) continue
      for (const subject of own ?? []) {
        const { kind, name, namespace = metadata.namespace } = subject
        subjects.set(kind === 'ServiceAccount' ? `${kind} ${namespace}/${name}` : `${kind} ${name}`, {
          ...subject,
          namespace: namespace ?? '',
        })
      }
    }
  }
  return subjects
}

function textOf(grant: (RoleObject & Partial<BindingObject>) | undefined): string {
  return JSON.stringify([grant?.rules, grant?.subjects, grant?.roleRef])
}

/** A namespace name that no cluster uses: without bindings there, an account has only its cluster-wide rights. */
const noNamespace = 'the-whole-cluster'

/** The rules of an account by namespace, as its server resolves them. */
class AccountRules {
  readonly #client: Client
  readonly #group: string
  readonly #headers: Readonly<Record<string, string>>
  readonly #known = new Map<string, Promise<readonly PolicyRule[]>>()

  constructor({ client, group }: { readonly client: Client; readonly group: string }, { kind, name, namespace }: RoleSubject) {
    this.#client = client
    this.#group = group
    // Header values are Latin-1.
    const text = Buffer.from(name).toString('latin1')
    if (kind === 'ServiceAccount') this.#headers = { 'impersonate-user': `system:serviceaccount:${namespace}:${name}` }
    else this.#headers = kind === 'Group' ? { 'impersonate-user': 'anyone', 'impersonate-group': text } : { 'impersonate-user': text }
  }

  in(namespace: string): Promise<readonly PolicyRule[]> {
    return getOrMake(this.#known, namespace, () => this.#ask(namespace === '' ? noNamespace : namespace))
  }

  async #ask(namespace: string): Promise<readonly PolicyRule[]> {
    const { status } = await this.#client.request<{ readonly status: { readonly resourceRules: readonly PolicyRule[] } }>({
      method: 'POST',
      path: `/apis/${this.#group}/v1/selfsubjectrulesreviews`,
      headers: this.#headers,
      body: { apiVersion: `${this.#group}/v1`, kind: 'SelfSubjectRulesReview', spec: { namespace } },
    })
    return status.resourceRules
  }
}
