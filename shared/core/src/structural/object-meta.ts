import { isJsonObject } from '../json/member.ts'
import { decoderOf } from '../schema/decode.ts'
import { sortedObject } from './json-value.ts'

/** Parsed metadata, or an error. */
export type ReadMeta =
  | { readonly kind: 'read'; readonly meta: Readonly<Record<string, unknown>>; readonly unknownFields: readonly string[] }
  /** `text` is in the words of Go's decoder. */
  | { readonly kind: 'malformed'; readonly text: string }

const type = 'meta/v1.ObjectMeta'

/** The members of every object, which schemas need not declare. */
export const objectMembers: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata'])

/**
 * Parses the metadata of a custom object or embedded object; unknown fields are dropped.
 * With `dropsMalformed`, fields of a wrong type are also dropped; metadata that is not an object is always an error.
 */
export function readObjectMeta(value: unknown, options: { readonly dropsMalformed: boolean; readonly trackUnknown: boolean }): ReadMeta {
  const decode = decoderOf(type)
  const whole = decode(value ?? {}, { trackUnknown: options.trackUnknown })
  if (whole.kind === 'decoded') return { kind: 'read', meta: printed({ ...whole.object }), unknownFields: whole.unknownFields }
  if (!isJsonObject(value))
    return { kind: 'malformed', text: `json: cannot unmarshal ${goTypeOf(value)} into Go value of type v1.ObjectMeta` }
  if (!options.dropsMalformed) return { kind: 'malformed', text: whole.textWithoutPath }
  const sound = Object.fromEntries(
    Object.entries(value).filter(([name, member]) => decode({ [name]: member }, { trackUnknown: false }).kind === 'decoded'),
  )
  return readObjectMeta(sound, options)
}

/** Omits an unset time, unlike in built-in kinds. */
function printed(meta: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { creationTimestamp, ...rest } = meta
  return sortedObject(creationTimestamp === null ? rest : meta, 0)
}

function goTypeOf(value: unknown): string {
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'boolean') return 'bool'
  return typeof value === 'bigint' ? 'number' : typeof value
}
