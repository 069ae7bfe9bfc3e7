import { isJsonObject } from '../json/member.ts'
import { parseBytes } from '../json/text.ts'

/** The uid in the JSON of an object's metadata; '' if absent. */
export function uidInMetadata(json: Uint8Array): string {
  return uidOf(parseBytes(json))
}

/** The uid in the JSON of an object; '' if absent. */
export function uidInObject(json: Uint8Array): string {
  const object: unknown = parseBytes(json)
  return isJsonObject(object) ? uidOf(object['metadata']) : ''
}

function uidOf(metadata: unknown): string {
  return isJsonObject(metadata) && typeof metadata['uid'] === 'string' ? metadata['uid'] : ''
}
