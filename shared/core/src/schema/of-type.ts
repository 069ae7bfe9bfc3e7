import { packages } from '../api/packages.ts'
import { isJsonObject } from '../json/member.ts'
import type { BuiltIn, TypeName } from './built-in.ts'
import { packageOf, typeOf } from './resolve.ts'

/** What an object, or a request about one, says of its kind. */
interface KindNamed {
  readonly group: string
  readonly version: string
  readonly kind: string
}

/** Whether a kind is that of a built-in type, whatever the domain of its group is. */
export function isKindOfType(type: TypeName, { group, version, kind }: KindNamed): boolean {
  const named = packages[packageOf(type)]
  if (named === undefined || kind !== typeOf(type) || version !== named.version) return false
  return named.domain === undefined ? group === (named.group ?? '') : group.startsWith(`${named.domain}.`)
}

/** Whether an object that a decoder has read is of a built-in type, by the kind that it names. */
export function isOfType<Name extends TypeName>(type: Name, object: unknown): object is BuiltIn<Name> {
  if (!isJsonObject(object) || typeof object['apiVersion'] !== 'string' || typeof object['kind'] !== 'string') return false
  const slash = object['apiVersion'].indexOf('/')
  const [group, version] = [object['apiVersion'].slice(0, Math.max(0, slash)), object['apiVersion'].slice(slash + 1)]
  return isKindOfType(type, { group, version, kind: object['kind'] })
}

/** The object as one of a built-in type; throws where it names another kind. */
export function requireType<Name extends TypeName>(type: Name, object: unknown): BuiltIn<Name> {
  if (!isOfType(type, object)) throw new Error(`an object is not of type ${type}`)
  return object
}

const decoder = new TextDecoder()

/** A stored object of a built-in type. Storage holds nothing but objects that a decoder has read. */
export function parseStored<Name extends TypeName>(type: Name, value: Uint8Array): BuiltIn<Name> {
  const object: unknown = JSON.parse(decoder.decode(value))
  if (!isOfType(type, object)) throw new Error(`a stored object is not of type ${type}`)
  return object
}
