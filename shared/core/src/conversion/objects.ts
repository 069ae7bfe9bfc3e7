import { isJsonObject, isTextMap } from '../json/member.ts'
import { type FieldError, joinTexts, type LevelText, textAt } from '../meta/index.ts'
import { validateAnnotations, validateLabels } from '../validation/object-meta.ts'

/** An object of a kind with several versions. */
export interface ConvertedObject {
  readonly apiVersion: string
  readonly kind: string
  readonly [field: string]: unknown
}

type Fields = Readonly<Record<string, unknown>>

/** The objects that are not in the desired version yet, which a webhook must convert. */
export function objectsToConvert(objects: readonly ConvertedObject[], desiredApiVersion: string): ConvertedObject[] {
  return objects.filter(({ apiVersion }) => apiVersion !== desiredApiVersion)
}

/** A conversion by a webhook. */
export interface Conversion {
  /** The requested kind in messages: `example.com/v1, Kind=Widget`. */
  readonly asked: string
  readonly desiredApiVersion: string
  /** In order; some may already be in the desired version. */
  readonly objects: readonly ConvertedObject[]
  /** The minor version of the release whose messages are used. */
  readonly level: number
}

/**
 * The objects in the desired version: the webhook's results for the objects sent to it, with their original metadata
 * except labels and annotations. Throws the error of an object, in kube-apiserver's words.
 */
export function takeConverted({ asked, desiredApiVersion, objects, level }: Conversion, converted: readonly unknown[]): ConvertedObject[] {
  const sent = objectsToConvert(objects, desiredApiVersion)
  if (converted.length !== sent.length)
    throw new Error(`conversion webhook for ${asked} returned ${converted.length} objects, expected ${sent.length}`)
  let index = 0
  return objects.map((original) => {
    if (original.apiVersion === desiredApiVersion) return original
    const given = converted[index]
    const place = `object at index ${index}`
    index += 1
    const wrong = (what: string) => new Error(`conversion webhook for ${asked} returned invalid converted ${place}: ${what}`)
    if (!isObject(given)) throw wrong('an object with apiVersion and kind was expected')
    if (given.apiVersion !== desiredApiVersion)
      throw wrong(`invalid groupVersion (expected ${desiredApiVersion}, received ${given.apiVersion})`)
    if (given.kind !== original.kind) throw wrong(`invalid kind (expected ${original.kind}, received ${given.kind})`)
    const problem = differingIdentity(original, given)
    if (problem !== undefined) throw wrong(problem)
    const restored = restoreMetadata(original, given)
    if ('problem' in restored)
      throw new Error(`conversion webhook for ${asked} returned invalid metadata in ${place}: ${textAt(restored.problem, level)}`)
    return restored.object
  })
}

/** The members that a conversion must not change, with their names in messages. */
const identity = [
  ['name', 'name'],
  ['namespace', 'namespace'],
  ['uid', 'UID'],
] as const

function differingIdentity(original: ConvertedObject, given: ConvertedObject): string | undefined {
  const [before, after] = [original, given].map(({ metadata }) => (isJsonObject(metadata) ? metadata : {}))
  for (const [field, called] of identity) {
    const [one, other] = [before?.[field] ?? '', after?.[field] ?? '']
    if (one !== other) return `must have the same ${called}: ${String(one)} != ${String(other)}`
  }
  return undefined
}

/** The converted object with its own labels and annotations, and all other metadata of the original. */
export function restoreMetadata<T extends Fields>(
  original: Fields,
  converted: T,
): { readonly object: T } | { readonly problem: LevelText } {
  const before = original['metadata']
  const after = converted['metadata']
  if (after === undefined) return before === undefined ? { object: converted } : { problem: 'missing metadata in converted object' }
  if (!isJsonObject(after)) return { problem: `invalid metadata of type ${typeOf(after)} in converted object` }
  if (before !== undefined && !isJsonObject(before)) return { problem: `invalid metadata of type ${typeOf(before)} in input object` }
  const { labels: _labels, annotations: _annotations, ...rest } = before ?? {}
  const metadata: Record<string, unknown> = rest
  for (const [field, validate] of changeable) {
    const value = after[field]
    if (value === undefined || value === null) continue
    if (!isTextMap(value))
      return { problem: `invalid metadata.${field} of type ${typeOf(value)} in converted object: a map of strings was expected` }
    const errors: FieldError[] = []
    validate(errors, value, `metadata.${field}`)
    const [first] = errors
    if (first !== undefined) return { problem: joinTexts([first.field, first.message], ': ') }
    metadata[field] = value
  }
  return { object: { ...converted, metadata } }
}

/** The only metadata that a conversion may change. */
const changeable = [
  ['labels', validateLabels],
  ['annotations', validateAnnotations],
] as const

function isObject(value: unknown): value is ConvertedObject {
  return isJsonObject(value) && typeof value['apiVersion'] === 'string' && typeof value['kind'] === 'string'
}

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}
