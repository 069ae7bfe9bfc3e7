import { isJsonObject, memberOf } from '../json/member.ts'
import { printJson } from '../json/print.ts'
import { decodeJson } from '../json/scan.ts'
import type { OwnedObject } from './ownership.ts'
import { compareText } from './path-element.ts'

/** The manager of `kubectl apply`, which takes over the fields of its client-side apply. */
export const takeOverManager = 'kubectl'
/** Maximum size of an object's annotations, keys and values together. */
const annotationBytesMax = 256 * 1024

/** The configuration that a client-side apply has stored in an annotation, as an object; undefined if absent. */
export function lastAppliedOf(object: OwnedObject, annotation: string): Record<string, unknown> | undefined {
  const text = annotationsOf(object)?.[annotation]
  if (typeof text !== 'string' || text === '') return undefined
  const decoded = decodeJson(text)
  return decoded.kind === 'json' && isJsonObject(decoded.value) ? decoded.value : undefined
}

/** The object with its last-applied annotation, if any, set to the new configuration in the client's format. */
export function withLastApplied(object: OwnedObject, config: OwnedObject, annotation: string): OwnedObject {
  const annotations = annotationsOf(object)
  if (annotations === undefined || !annotations[annotation]) return object
  const text = `${printJson(sorted(withoutAnnotation(config, annotation)), { hasBigIntegers: true })}\n`
  if (annotations[annotation] === text) return object
  const { [annotation]: _former, ...others } = annotations
  const kept = bytesOf({ ...others, [annotation]: text }) > annotationBytesMax ? others : { ...annotations, [annotation]: text }
  return { ...object, metadata: { ...(object['metadata'] as Record<string, unknown>), annotations: kept } }
}

function annotationsOf(object: OwnedObject): Record<string, unknown> | undefined {
  const metadata = object['metadata']
  const annotations = isJsonObject(metadata) ? memberOf(metadata, 'annotations') : undefined
  return isJsonObject(annotations) ? annotations : undefined
}

function withoutAnnotation(config: OwnedObject, annotation: string): OwnedObject {
  const annotations = annotationsOf(config)
  if (annotations === undefined || !isJsonObject(config['metadata'])) return config
  const { annotations: _annotations, ...metadata } = config['metadata']
  const { [annotation]: _former, ...others } = annotations
  return { ...config, metadata: Object.keys(others).length === 0 ? metadata : { ...metadata, annotations: others } }
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (!isJsonObject(value)) return value
  const keys = Object.keys(value).sort(compareText)
  return Object.fromEntries(keys.map((key) => [key, sorted(value[key])]))
}

function bytesOf(annotations: Record<string, unknown>): number {
  const encoder = new TextEncoder()
  return Object.entries(annotations).reduce((sum, [key, value]) => sum + encoder.encode(key + String(value)).length, 0)
}
