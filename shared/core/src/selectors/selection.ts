/** A term of a label selector. All terms must match. */
export interface LabelRequirement {
  readonly key: string
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist' | 'Gt' | 'Lt'
  /** Sorted. Empty for Exists and DoesNotExist; a single integer for Gt and Lt. */
  readonly values: readonly string[]
}

/** A term of a field selector. An absent field counts as `''`. */
export interface FieldRequirement {
  readonly field: string
  readonly operator: 'Equals' | 'NotEquals'
  readonly value: string
}

/** A range of the hash space of a field: 17 hexadecimal digits each, `from` inclusive and `to` exclusive, so that bounds can be compared as texts. */
export interface ShardRange {
  readonly field: 'uid' | 'namespace'
  readonly from: string
  readonly to: string
}

/** A selection of a collection; empty lists select all. */
export interface Selection {
  readonly labels: readonly LabelRequirement[]
  readonly fields: readonly FieldRequirement[]
  /** Objects in any of these ranges. Default: the whole hash space. */
  readonly shards?: readonly ShardRange[] | undefined
}

/** Selects every object. */
export const everything: Selection = Object.freeze({ labels: [], fields: [] })

/** All objects of a resource, of one namespace, or a single object. */
export interface Scope {
  /** The storage prefix of the resource, without leading and trailing slashes: `core/pods`. */
  readonly resource: string
  /** Undefined for all namespaces, or for a cluster-scoped resource. */
  readonly namespace?: string
  /** Only this object. */
  readonly name?: string
}

/** The key of one object: `core/pods/default/web-0`, `core/nodes/n1`. */
export function objectKey(resource: string, namespace: string | undefined, name: string): string {
  return namespace === undefined || namespace === '' ? `${resource}/${name}` : `${resource}/${namespace}/${name}`
}

/**
 * `objectKey` for one resource. The last key is cached: consecutive requests are often about the same object,
 * and an existing string has its hash already computed.
 */
export function keysOf(resource: string): (namespace: string | undefined, name: string) => string {
  let lastNamespace: string | undefined
  let lastName = ''
  let last = objectKey(resource, lastNamespace, lastName)
  return (namespace, name) => {
    if (name === lastName && namespace === lastNamespace) return last
    lastNamespace = namespace
    lastName = name
    last = objectKey(resource, namespace, name)
    return last
  }
}

/** `core/pods` for `core/pods/default/a`, and for any other prefix of keys; '' for ''. */
export function resourcePrefix(key: string): string {
  const end = key.indexOf('/', key.indexOf('/') + 1)
  return end < 0 ? key : key.slice(0, end)
}

/** The prefix of all keys in a scope; it ends with a slash. */
export function scopePrefix({ resource, namespace }: Scope): string {
  return namespace === undefined || namespace === '' ? `${resource}/` : `${resource}/${namespace}/`
}
