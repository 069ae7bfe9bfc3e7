import { packages } from '../api/packages.ts'
import { isJsonObject } from '../json/member.ts'
import { parseBytes } from '../json/text.ts'
import type { BuiltIn, TypeName } from './built-in.ts'
import { packageOf, typeOf } from './resolve.ts'

/** The kind in an object or request. */
interface KindNamed {
  readonly group: string
  readonly version: string
  readonly kind: string
}

/** The name of a type's kind. */
interface WrittenKind extends KindNamed {
  /** The first label of a group that ends with the server's domain; undefined for other groups. */
  readonly domain: string | undefined
}

const writtenKinds = new Map<TypeName, WrittenKind | undefined>()

/** Cached, because plugins ask for it several times per write. */
function writtenKindOf(type: TypeName): WrittenKind | undefined {
  if (writtenKinds.has(type)) return writtenKinds.get(type)
  const named = packages[packageOf(type)]
  const domain = named?.domain === undefined ? undefined : `${named.domain}.`
  const written = named && { group: named.group ?? '', version: named.version, kind: typeOf(type), domain }
  writtenKinds.set(type, written)
  return written
}

/** True if a kind is that of a built-in type, whatever the domain of its group. */
export function isKindOfType(type: TypeName, { group, version, kind }: KindNamed): boolean {
  const written = writtenKindOf(type)
  if (written === undefined || kind !== written.kind || version !== written.version) return false
  return written.domain === undefined ? group === written.group : group.startsWith(written.domain)
}

/** True if a decoded object names the kind of a built-in type. */
export function isOfType<Name extends TypeName>(type: Name, object: unknown): object is BuiltIn<Name> {
  if (!isJsonObject(object) || typeof object['apiVersion'] !== 'string' || typeof object['kind'] !== 'string') return false
  const slash = object['apiVersion'].indexOf('/')
  const [group, version] = [object['apiVersion'].slice(0, Math.max(0, slash)), object['apiVersion'].slice(slash + 1)]
  return isKindOfType(type, { group, version, kind: object['kind'] })
}

/** The object, typed as a built-in type. Throws if it names another kind. */
export function requireType<Name extends TypeName>(type: Name, object: unknown): BuiltIn<Name> {
  if (!isOfType(type, object)) throw new Error(`an object is not of type ${type}`)
  return object
}

const requestVersions = ['v1', 'v1beta1', 'v1alpha1'] as const

/** True for a PodCertificateRequest in any version. The type of v1beta1 has the fields of all versions. */
export function isPodCertificateRequest(object: unknown): object is BuiltIn<'certificates/v1beta1.PodCertificateRequest'> {
  return requestVersions.some((version) => isOfType(`certificates/${version}.PodCertificateRequest`, object))
}

/** Parses a stored object of a built-in type. Stored objects were decoded before. */
export function parseStored<Name extends TypeName>(type: Name, value: Uint8Array): BuiltIn<Name> {
  const object: unknown = parseBytes(value)
  if (!isOfType(type, object)) throw new Error(`a stored object is not of type ${type}`)
  return object
}
