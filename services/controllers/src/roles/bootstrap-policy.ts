import { type Client, isRefusal, type ResourceAddress, type ResourceClient, unlessGone } from '@orch/client'
import { jsonEqual } from '@orch/core/json'
import type { ApiObject } from '@orch/core/meta'
import { domainGroup, type Names } from '@orch/core/names'
import {
  type AggregationRule,
  autoUpdateAnnotation,
  type BindingObject,
  bootstrapPolicy,
  missingRules,
  type RoleObject,
  type RoleSubject,
} from '@orch/core/rbac'
import { type BootstrapWrite, type ReceiveRefusal, unlessReceived, type WriteBootstrapObjects } from '../bootstrap.ts'
import { aggregationManager } from './aggregation.ts'

/** Maximum number of attempts at one object that others write at the same time. */
const attemptsMax = 5

/** The profile's names and the level (the minor version of a release) of a server. */
interface Served {
  readonly names: Names
  readonly level: number
}

/**
 * Ensures that the bootstrap roles and bindings exist. Missing rules are added, additional ones are kept, and roles with the opt-out annotation are not
 * changed. Several servers may do this at a time.
 */
export async function bootstrapRoles(
  client: Client,
  { names, level }: Served,
  writeBootstrapObjects?: WriteBootstrapObjects,
  receiveRefusal?: ReceiveRefusal,
): Promise<void> {
  const { clusterRoles, clusterRoleBindings, roles, roleBindings } = bootstrapPolicy(names, level)
  const mendRole = (live: RoleObject, wanted: RoleObject) => mendedRole(live, wanted, names)
  const mendBinding = (live: BindingObject, wanted: BindingObject) => mendedBinding(live, wanted, names)
  const group = domainGroup(names, 'rbac.authorization')
  const ensure = <T extends ApiObject>(plural: string, namespaced: boolean, wanted: readonly T[], mend: Mend<T>) =>
    ensureAll({ client, writeBootstrapObjects, receiveRefusal, address: { group, version: 'v1', plural, namespaced } }, wanted, mend)
  await Promise.all([ensure('clusterroles', false, clusterRoles, mendRole), ensure('roles', true, roles, mendRole)])
  // Roles are created first, so that every visible binding finds its role.
  await Promise.all([
    ensure('clusterrolebindings', false, clusterRoleBindings, mendBinding),
    ensure('rolebindings', true, roleBindings, mendBinding),
  ])
}

/** The required change of an existing object. */
type Mending<T> =
  | { readonly kind: 'keep' }
  | { readonly kind: 'update'; readonly object: T }
  /** The difference is in an immutable field. */
  | { readonly kind: 'replace' }

type Mend<T> = (live: T, wanted: T) => Mending<T>

interface Place {
  readonly client: Client
  readonly address: ResourceAddress
  readonly writeBootstrapObjects: WriteBootstrapObjects | undefined
  readonly receiveRefusal: ReceiveRefusal | undefined
}

async function ensureAll<T extends ApiObject>(
  { client, address, writeBootstrapObjects, receiveRefusal }: Place,
  wanted: readonly T[],
  mend: Mend<T>,
): Promise<void> {
  const collection = client.resource<T>(address)
  const { items } = await collection.listAll()
  if (items.length === 0 && writeBootstrapObjects !== undefined)
    return writeBootstrapObjects(wanted.map((object) => toBootstrapWrite(address, object)))
  const live = new Map(items.map((item) => [keyOf(item), item]))
  const ensured = (object: T) => unlessReceived(object, () => ensure(collection, object, live.get(keyOf(object)), mend), receiveRefusal)
  await Promise.all(wanted.map(ensured))
}

/** Aggregated rules belong to the aggregation controller, even before it has run. */
function toBootstrapWrite(resource: ResourceAddress, object: ApiObject & Pick<RoleObject, 'aggregationRule'>): BootstrapWrite {
  if (!object.aggregationRule) return { resource, object }
  return { resource, object, applied: { fieldManager: aggregationManager, fields: ['rules'] } }
}

function keyOf({ metadata }: ApiObject): string {
  return `${metadata.namespace ?? ''}/${metadata.name}`
}

async function ensure<T extends ApiObject>(collection: ResourceClient<T>, wanted: T, known: T | undefined, mend: Mend<T>): Promise<void> {
  let live = known
  for (let attempt = 1; ; attempt++) {
    try {
      return await ensureOnce(collection, wanted, live, mend)
    } catch (error) {
      if (!isRefusal(error, ['AlreadyExists', 'Conflict', 'NotFound']) || attempt === attemptsMax) throw error
      live = await unlessGone(() => collection.get(wanted.metadata.name ?? '', { namespace: wanted.metadata.namespace }))
    }
  }
}

async function ensureOnce<T extends ApiObject>(
  collection: ResourceClient<T>,
  wanted: T,
  live: T | undefined,
  mend: Mend<T>,
): Promise<void> {
  if (live === undefined) {
    await collection.create(wanted)
    return
  }
  const mending = mend(live, wanted)
  switch (mending.kind) {
    case 'keep':
      return
    case 'update':
      await collection.update(mending.object)
      return
    case 'replace':
      await collection.delete(wanted.metadata.name ?? '', { namespace: wanted.metadata.namespace })
      await collection.create(wanted)
  }
}

/** Adds missing parts of a role: rules, aggregation selectors, labels and annotations. */
function mendedRole(live: RoleObject, wanted: RoleObject, names: Names): Mending<RoleObject> {
  if (isLeftAlone(live, names)) return { kind: 'keep' }
  // Aggregated rules belong to the aggregation controller.
  const missing = wanted.aggregationRule ? [] : missingRules(live.rules ?? [], wanted.rules ?? [])
  const aggregationRule = mendedAggregation(live.aggregationRule, wanted.aggregationRule)
  const metadata = mendedMetadata(live, wanted)
  if (missing.length === 0 && aggregationRule === undefined && metadata === undefined) return { kind: 'keep' }
  return {
    kind: 'update',
    object: {
      ...live,
      metadata: metadata ?? live.metadata,
      ...(aggregationRule === undefined ? {} : { aggregationRule }),
      rules: [...(live.rules ?? []), ...missing],
    },
  }
}

/** Adds the missing subjects of a binding; a binding of another role is recreated, as its role is immutable. */
function mendedBinding(live: BindingObject, wanted: BindingObject, names: Names): Mending<BindingObject> {
  if (isLeftAlone(live, names)) return { kind: 'keep' }
  if (!jsonEqual(live.roleRef, wanted.roleRef)) return { kind: 'replace' }
  const subjects = live.subjects ?? []
  const missing = (wanted.subjects ?? []).filter((subject) => !subjects.some((known) => isSameSubject(known, subject)))
  const metadata = mendedMetadata(live, wanted)
  if (missing.length === 0 && metadata === undefined) return { kind: 'keep' }
  return { kind: 'update', object: { ...live, metadata: metadata ?? live.metadata, subjects: [...subjects, ...missing] } }
}

function isLeftAlone({ metadata }: ApiObject, names: Names): boolean {
  return metadata.annotations?.[autoUpdateAnnotation(names)] === 'false'
}

function isSameSubject(left: RoleSubject, right: RoleSubject): boolean {
  return left.kind === right.kind && left.name === right.name && (left.namespace ?? '') === (right.namespace ?? '')
}

/** Undefined if all selectors exist. */
function mendedAggregation(
  live: AggregationRule | null | undefined,
  wanted: AggregationRule | null | undefined,
): AggregationRule | undefined {
  const known = live?.clusterRoleSelectors ?? []
  const missing = (wanted?.clusterRoleSelectors ?? []).filter((selector) => !known.some((one) => jsonEqual(one, selector)))
  return missing.length === 0 ? undefined : { clusterRoleSelectors: [...known, ...missing] }
}

/** Labels and annotations of users are kept, even with other values than the bootstrap ones. Undefined if none is missing. */
function mendedMetadata({ metadata: live }: ApiObject, { metadata: wanted }: ApiObject): ApiObject['metadata'] | undefined {
  const labels = { ...wanted.labels, ...live.labels }
  const annotations = { ...wanted.annotations, ...live.annotations }
  if (jsonEqual(labels, live.labels ?? {}) && jsonEqual(annotations, live.annotations ?? {})) return undefined
  return { ...live, labels, annotations }
}
