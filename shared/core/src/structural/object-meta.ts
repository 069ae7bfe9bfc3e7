import { isJsonObject } from '../json/member.ts'
import { decoderOf } from '../schema/decode.ts'
import { sortedObject } from './json-value.ts'

/** The result of reading metadata. */
export type ReadMeta =
  | { readonly kind: 'read'; readonly meta: Readonly<Record<string, unknown>>; readonly unknownFields: readonly string[] }
  /** `text` is in the words of Go's decoder. */
  | { readonly kind: 'malformed'; readonly text: string }

const type = 'meta/v1.ObjectMeta'

/** The members of every object that no schema has to name. */
export const objectMembers: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata'])

/**
 * The metadata of a custom object, or of one that is embedded in it: fields that ObjectMeta does not have are dropped.
 * With `dropsMalformed` so are those of a wrong type; metadata that is no object at all is malformed in any case.
 */
export function readObjectMeta(value: unknown, options: { readonly dropsMalformed: boolean; readonly trackUnknown: boolean }): ReadMeta {
  const decode = decoderOf(type)
  const whole = decode(value ?? {}, { trackUnknown: options.trackUnknown })
  if (whole.kind === 'decoded') return { kind: 'read', meta: printed({ ...whole.object }), unknownFields: whole.unknownFields }
  if (!isJsonObject(value))
    return { kind: 'malformed', text: `json: cannot unmarshal ${goTypeOf(value)} into Go value of type v1.ObjectMeta` }
  if (!options.dropsMalformed) return { kind: 'malformed', text: whole.text }
  const sound = Object.fromEntries(
    Object.entries(value).filter(([name, member]) => decode({ [name]: member }, { trackUnknown: false }).kind === 'decoded'),
  )
  return readObjectMeta(sound, options)
}

/** A time that is not known yet is left out, unlike in kinds of the server. */
function printed(meta: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { creationTimestamp, ...rest } = meta
  return sortedObject(creationTimestamp === null ? rest : meta, 0)
}

function goTypeOf(value: unknown): string {
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'boolean') return 'bool'
  return typeof value === 'bigint' ? 'number' : typeof value
}
