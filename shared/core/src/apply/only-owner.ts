import { isJsonObject } from '../json/member.ts'
import type { FieldSet } from './field-set.ts'
import { type ElementText, fieldElement, keyElement } from './path-element.ts'

const metadata = fieldElement('metadata')
const ownerReferences = fieldElement('ownerReferences')

/** The uid of an object's only owner; undefined without an owner, or with several. */
export function uidOfOnlyOwner(object: unknown): string | undefined {
  const meta = isJsonObject(object) ? object['metadata'] : undefined
  const owners = isJsonObject(meta) ? meta['ownerReferences'] : undefined
  const owner: unknown = Array.isArray(owners) && owners.length === 1 ? owners[0] : undefined
  return isJsonObject(owner) && typeof owner['uid'] === 'string' ? owner['uid'] : undefined
}

/** The object with another uid of its only owner. */
export function withUidOfOwner(object: unknown, uid: string): unknown {
  const meta = isJsonObject(object) ? object['metadata'] : undefined
  const owners = isJsonObject(meta) ? meta['ownerReferences'] : undefined
  const owner: unknown = Array.isArray(owners) ? owners[0] : undefined
  if (!isJsonObject(object) || !isJsonObject(meta) || !isJsonObject(owner)) return object
  return { ...object, metadata: { ...meta, ownerReferences: [{ ...owner, uid }] } }
}

/** The path element of an owner. */
export function ownerElement(uid: string): ElementText {
  return keyElement(['uid'], [uid])
}

/** The owned fields with another path element of the only owner, as `fieldsV1`. Fields without that element stay unchanged. */
export function withOwnerInFields(fields: Readonly<Record<string, unknown>>, from: ElementText, to: ElementText): Record<string, unknown> {
  const meta = fields[metadata]
  const owners = isJsonObject(meta) ? meta[ownerReferences] : undefined
  if (!isJsonObject(meta) || !isJsonObject(owners) || !Object.hasOwn(owners, from)) return fields
  const renamed = Object.fromEntries(Object.entries(owners).map(([element, below]) => [element === from ? to : element, below]))
  return { ...fields, [metadata]: { ...meta, [ownerReferences]: renamed } }
}

/** Like `withOwnerInFields`, for a set. */
export function withOwnerInSet(set: FieldSet, from: ElementText, to: ElementText): FieldSet {
  const meta = set.children?.get(metadata)
  const owners = meta?.children?.get(ownerReferences)
  const owner = owners?.children?.get(from)
  if (meta === undefined || owners === undefined || owner === undefined) return set
  const renamed = new Map(owners.children).set(to, owner)
  if (to !== from) renamed.delete(from)
  const above = new Map(meta.children).set(ownerReferences, { ...owners, children: renamed })
  return { ...set, children: new Map(set.children).set(metadata, { ...meta, children: above }) }
}
