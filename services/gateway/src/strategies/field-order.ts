import type { ObjectMeta } from '@orch/core/meta'
import { decoderOf } from '@orch/core/schema'

/** The fields in the order of their type, since objects are compared as text. */
export function metadataInOrder(metadata: ObjectMeta): ObjectMeta {
  const decoded = decoderOf('meta/v1.ObjectMeta')(metadata, { trackUnknown: false })
  return decoded.kind === 'decoded' ? decoded.object : metadata
}

/** A map with sorted keys, as decoders leave it. */
export function sorted<T>(map: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(Object.entries(map).sort(([left], [right]) => (left < right ? -1 : 1)))
}
