import type { ObjectReference } from '@orch/client'
import { type ApiObject, type OwnerReference, parseRevision } from '@orch/core/meta'

/** The key of an object: `namespace/name`, or `name` at cluster scope. */
export function keyOf({ metadata: { namespace, name = '' } }: ApiObject): string {
  return namespace === undefined ? name : `${namespace}/${name}`
}

/** The parts of a key. */
export function parseKey(key: string): { readonly namespace: string | undefined; readonly name: string } {
  const slash = key.indexOf('/')
  return slash < 0 ? { namespace: undefined, name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) }
}

/** The kind of an object. */
export interface KindOf {
  readonly apiVersion: string
  readonly kind: string
}

/** The reference to an object in an event about it. */
export function aboutObject({ apiVersion, kind }: KindOf, { metadata }: ApiObject): ObjectReference {
  const { name = '', namespace, uid = '', resourceVersion } = metadata
  return { apiVersion, kind, namespace, name, uid, resourceVersion }
}

/** The revision of the object's last write. */
export function revisionOf({ metadata }: ApiObject): number {
  return parseRevision(metadata.resourceVersion ?? '') ?? 0
}

/** The reference to the object's controller. */
export function controllerOf({ metadata }: ApiObject): OwnerReference | undefined {
  return metadata.ownerReferences?.find(({ controller }) => controller === true)
}
