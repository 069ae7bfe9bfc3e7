import { memberSpan } from '@orch/core/json'

/**
 * The same object with another `metadata.resourceVersion`, without parsing it: the content of a DELETED event is the object
 * as it was, at the revision of the change. An object without the field is returned as it is.
 */
export function withRevision(object: Uint8Array, revision: number): Uint8Array {
  const metadata = memberSpan(object, 0, 'metadata')
  const value = metadata === undefined ? undefined : memberSpan(object, metadata.start, 'resourceVersion')
  if (value === undefined) return object
  return Buffer.concat([object.subarray(0, value.start), Buffer.from(`"${revision}"`), object.subarray(value.end)])
}
