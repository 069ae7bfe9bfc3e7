import type { ScalarNode } from '../description/node.ts'
import { looseTypeName } from '../json/go-text.ts'
import { isJsonObject } from '../json/member.ts'

/** The expected contents of a value. */
export type RestoredKind = ScalarNode['kind'] | 'string' | 'list' | 'map' | 'struct'

/**
 * kube-apiserver's error for a value of the wrong type in an object that it makes from values, as for a strategic merge
 * patch, instead of from a text. `type` is the Go name of the expected type, if it has one.
 */
export function restoreText(kind: RestoredKind, value: unknown, type: string | undefined): string {
  const found = goKind(value)
  switch (kind) {
    case 'struct':
      return `cannot restore struct from: ${found}`
    case 'map':
      return `cannot restore map from ${found}`
    case 'bytes':
      if (typeof value === 'string') return `error decoding from json: illegal base64 data at input byte ${illegalByteOf(value)}`
      return `cannot restore slice from ${found}`
    case 'list':
      return `cannot restore slice from ${found}`
    case 'int32':
    case 'int64':
      return found === 'float64' || found === 'int64' ? `cannot convert ${found} to ${type ?? kind}` : `unrecognized type: ${kind}`
    case 'string':
      return found === 'int64' ? `cannot convert int64 to ${type ?? kind}` : 'unrecognized type: string'
    case 'boolean':
      return 'unrecognized type: bool'
    case 'double':
      return 'unrecognized type: float64'
    case 'intOrString':
      return `json: cannot unmarshal ${jsonWord(value)} into Go value of type int32`
    case 'time':
    case 'microTime':
      return `json: cannot unmarshal ${jsonWord(value).split(' ')[0]} into Go value of type string`
    case 'quantity':
    case 'raw':
    case 'json':
    case 'fieldsV1':
      return `cannot restore ${kind} from ${found}`
  }
}

/** The offset of the first character that is not base64, or else of the incomplete group. */
export function illegalByteOf(text: string): number {
  const stranger = text.search(/[^A-Za-z0-9+/=\r\n]/)
  return stranger < 0 ? text.length - (text.length % 4) : stranger
}

function goKind(value: unknown): string {
  if (Array.isArray(value)) return 'slice'
  return value === null || value === undefined || isJsonObject(value) ? 'map' : looseTypeName(value)
}

function jsonWord(value: unknown): string {
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'boolean') return 'bool'
  return typeof value === 'number' || typeof value === 'bigint' ? `number ${value}` : typeof value
}
