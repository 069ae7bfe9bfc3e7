import { memberSpan } from '@orch/core/json'
import type { Stored } from '@orch/platform'

/** The bytes of the spec of a stored definition, which is read already. */
export function specBytes(definition: object, stored: Stored): Uint8Array {
  return betweenMetadataAndStatus(definition, stored) ?? wherever(stored)
}

/** The spec where it stands as we write it, behind the metadata and before the status; undefined: it stands elsewhere. */
function betweenMetadataAndStatus(definition: object, { value, metadataEnd }: Stored): Uint8Array | undefined {
  if (Object.keys(definition).slice(-3).join() !== 'metadata,spec,status') return undefined
  const behind = Buffer.from(`,"status":${JSON.stringify(Object.values(definition).at(-1))}}`)
  const [start, end] = [metadataEnd + front.length, value.length - behind.length]
  if (start > end || !front.equals(value.subarray(metadataEnd, start)) || !behind.equals(value.subarray(end))) return undefined
  return value.subarray(start, end)
}

const front = Buffer.from(',"spec":')

/** The same for any order of members: a spec of a megabyte takes ten milliseconds, since it is gone over byte by byte. */
function wherever({ value }: Stored): Uint8Array {
  const span = memberSpan(value, 0, 'spec')
  if (span === undefined) throw new Error('a stored definition has no spec')
  return value.subarray(span.start, span.end)
}
