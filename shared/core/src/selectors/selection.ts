/** One term of a label selector. All terms of a selector must hold. */
export interface LabelRequirement {
  readonly key: string
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist' | 'Gt' | 'Lt'
  /** Sorted; empty for Exists and DoesNotExist; one integer text for Gt and Lt. */
  readonly values: readonly string[]
}

/** One term of a field selector. A field that an object lacks counts as `''`. */
export interface FieldRequirement {
  readonly field: string
  readonly operator: 'Equals' | 'NotEquals'
  readonly value: string
}

/** A part of the hash space of one field: 17 digits of base 16 each, `from` inclusive and `to` exclusive, so that they compare as texts. */
export interface ShardRange {
  readonly field: 'uid' | 'namespace'
  readonly from: string
  readonly to: string
}

/** The selected objects of a collection; empty lists select all. */
export interface Selection {
  readonly labels: readonly LabelRequirement[]
  readonly fields: readonly FieldRequirement[]
  /** Objects of any of these; absent: of the whole hash space. */
  readonly shards?: readonly ShardRange[] | undefined
}

/** The selection that holds for every object. */
export const everything: Selection = Object.freeze({ labels: [], fields: [] })

/** All objects of a resource, or those of one namespace, or one object. */
export interface Scope {
  /** Storage prefix of the resource, without slashes at its ends: `core/pods`. */
  readonly resource: string
  /** Absent: all namespaces, or a cluster-scoped resource. */
  readonly namespace?: string
  /** Only this object. */
  readonly name?: string
}

/** The key of one object: `core/pods/default/web-0`, `core/nodes/n1`. */
export function objectKey(resource: string, namespace: string | undefined, name: string): string {
  return namespace === undefined || namespace === '' ? `${resource}/${name}` : `${resource}/${namespace}/${name}`
}

/**
 * `objectKey` for one resource. The last key is returned again while it is asked for: requests come in crowds
 * about the same place, and an existing text needs no hash to be found by.
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

/** The prefix of every key of a scope; ends with a slash. */
export function scopePrefix({ resource, namespace }: Scope): string {
  return namespace === undefined || namespace === '' ? `${resource}/` : `${resource}/${namespace}/`
}
