import { ManifestError } from '@orch/client'
import { decodeText, isJsonObject, scanJson } from '@orch/core/json'
import { type ApiObject, parseRevision, type Revision } from '@orch/core/meta'
import { hasBigInteger } from '@orch/core/yaml'
import type { LoadedObject } from '@orch/gateway'

/** A dump that would take too much memory, or too long in one turn of the event loop. */
export class OversizeError extends ManifestError {}

/** Maximum values of one object, as in the body of a request, because it is decoded in one turn of the event loop. */
const valuesMax = 75_000

/** Refuses JSON of an object with too many values. */
export function requireFewValues(bytes: Uint8Array, place: string): void {
  // Each value takes two bytes at least.
  if (bytes.length < 2 * valuesMax) return
  const { members, commas } = scanJson(decodeText(bytes))
  if (Math.max(members, commas) > valuesMax) throw new OversizeError(`${place}: an object has more than ${valuesMax} values`)
}

/** An object of a dump. */
export interface DumpedObject {
  readonly apiVersion: string
  readonly kind: string
  /** Undefined for a cluster-scoped object. */
  readonly namespace: string | undefined
  readonly name: string
  /** The resourceVersion; 0 if it is absent or not a number. */
  readonly revision: Revision
  readonly file: string
  /** Parses the text again, so that a large dump holds only its text. */
  readonly read: () => LoadedObject
}

/** An object that has been parsed. */
export function parsedObject(object: ApiObject, file: string, revision?: Revision): DumpedObject {
  const { apiVersion, kind, metadata } = object
  const { name = '', namespace } = metadata
  return {
    ...{ apiVersion, kind, name, file },
    namespace: namespace === '' ? undefined : namespace,
    revision: revision ?? parseRevision(metadata.resourceVersion ?? '') ?? 0,
    read: () => ({ object, hasBigIntegers: hasBigInteger(object) }),
  }
}

/** `apps/v1 Deployment default/web` */
export function nameOf({ apiVersion, kind, namespace, name }: Pick<DumpedObject, 'apiVersion' | 'kind' | 'namespace' | 'name'>): string {
  return `${apiVersion} ${kind} ${namespace === undefined ? name : `${namespace}/${name}`}`
}

/** The apiVersion and kind of a list's items, whose entries may omit them. */
export type ItemKind = { readonly apiVersion?: string; readonly kind?: string }

/** The default apiVersion and kind of a list's items; undefined if the object is not a list. */
export function itemKindOf(value: unknown): ItemKind | undefined {
  if (!isJsonObject(value)) return undefined
  const { apiVersion, kind, items } = value
  if (typeof apiVersion !== 'string' || typeof kind !== 'string' || !kind.endsWith('List')) return undefined
  // Programs in Go print an empty list as null.
  if (items !== null && !Array.isArray(items)) return undefined
  return kind === 'List' ? {} : { apiVersion, kind: kind.slice(0, -'List'.length) }
}

/** A value as an object. */
export function asObject(value: unknown, file: string, said: ItemKind = {}): ApiObject {
  if (!isJsonObject(value)) throw new ManifestError(`${file}: an object was expected`)
  const { apiVersion = said.apiVersion, kind = said.kind, metadata } = value
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') throw new ManifestError(`${file}: an object has no apiVersion or no kind`)
  if (!isJsonObject(metadata)) throw new ManifestError(`${file}: the ${kind} has no metadata`)
  return { ...value, apiVersion, kind, metadata }
}
