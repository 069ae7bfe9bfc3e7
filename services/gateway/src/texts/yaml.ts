import {
  CORE_SCHEMA,
  DUMP_SCHEMA,
  dump,
  intCoreTag,
  load,
  type MappingTagDefinition,
  mapTag,
  type ScalarTagDefinition,
  YAMLException,
} from 'js-yaml'
import { limits } from '../limits.ts'

/** A text of YAML that has been read. A member that is there more than once has its last value. */
export type ParsedYaml =
  | { readonly kind: 'yaml'; readonly value: unknown; readonly duplicates: readonly string[]; readonly hasBigIntegers: boolean }
  | { readonly kind: 'malformed'; readonly message: string }

/** Reads YAML. Members that are there twice are looked for only in texts that have some. */
export function parseYaml(text: string): ParsedYaml {
  if (startsTwoDocuments.test(text)) return severalDocuments
  try {
    return parsed(load(text, { schema: readingSchema }), text, () => [])
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error
    return error.reason === 'duplicated mapping key' ? parseWithDuplicates(text) : { kind: 'malformed', message: error.reason }
  }
}

function parseWithDuplicates(text: string): ParsedYaml {
  const repeated = new Map<unknown, Set<string>>()
  const noting: MappingTagDefinition<Record<string, unknown>> = {
    ...(mapTag as MappingTagDefinition<Record<string, unknown>>),
    addPair(object, key, value) {
      if (mapTag.has(object, key)) repeated.set(object, (repeated.get(object) ?? new Set()).add(String(key)))
      return mapTag.addPair(object, key, value)
    },
  }
  try {
    const value = load(text, { json: true, schema: readingSchema.withTags(noting) })
    return parsed(value, text, () => pathsOf(value, '', repeated).slice(0, duplicatesMax))
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error
    return { kind: 'malformed', message: error.reason }
  }
}

/** The YAML of a value; integers beyond 2^53 are `bigint` in it. */
export function printYaml(value: unknown): string {
  return dump(value, { schema: writingSchema, noRefs: true, lineWidth: -1 })
}

function parsed(value: unknown, text: string, duplicates: () => readonly string[]): ParsedYaml {
  if (outgrowsBodies(value, text)) return tooManyAliases
  return { kind: 'yaml', value, duplicates: duplicates(), hasBigIntegers: /\d{16}/.test(text) && hasBigInteger(value) }
}

/** Whether an integer beyond 2^53 lies anywhere in a value. */
export function hasBigInteger(value: unknown): boolean {
  if (typeof value === 'bigint') return true
  return typeof value === 'object' && value !== null && Object.values(value).some(hasBigInteger)
}

const int64Min = -(2n ** 63n)
const int64Max = 2n ** 63n - 1n

/** Whole numbers of 64 bits are exact, as they are in JSON. */
function exact(tag: ScalarTagDefinition<number>): ScalarTagDefinition<number | bigint> {
  return {
    ...tag,
    resolve(source, isExplicit, tagName) {
      const value = tag.resolve(source, isExplicit, tagName)
      if (typeof value !== 'number' || Number.isSafeInteger(value) || !/^[-+]?\d+$/.test(source)) return value
      const whole = BigInt(source.replace('+', ''))
      return whole >= int64Min && whole <= int64Max ? whole : value
    },
    identify: (value) => typeof value === 'bigint' || tag.identify?.(value) === true,
    represent: (value) => String(value),
  }
}

const readingSchema = CORE_SCHEMA.withTags(exact(intCoreTag))
/** Quotes every text that some reader of YAML would take for something else. */
const writingSchema = DUMP_SCHEMA.withTags(exact(intTagOf(DUMP_SCHEMA.tags)))

function intTagOf(tags: readonly { readonly tagName: string }[]): ScalarTagDefinition<number> {
  // The schema has one tag of that name, and it is the scalar one.
  return tags.find(({ tagName }) => tagName === intCoreTag.tagName) as ScalarTagDefinition<number>
}

/** Two lines that begin a document: a hundred thousand of them are refused before they are parsed. */
const startsTwoDocuments = /^---(?=\s|$)[\s\S]*?^---(?=\s|$)/m
const severalDocuments: ParsedYaml = { kind: 'malformed', message: 'expected a single document in the stream, but found more' }

const tooManyAliases: ParsedYaml = { kind: 'malformed', message: 'its aliases stand for more than a body may hold' }

/** By aliases a short text can stand for a value that fills all memory, or that has no end. */
function outgrowsBodies(value: unknown, text: string): boolean {
  return text.includes('*') && sizeOf(value) > limits.bodyBytesMax
}

/**
 * What a value takes where its aliases are written out; a part that several aliases share is measured once, after what it contains.
 * Without bound: a part that contains itself.
 */
function sizeOf(value: unknown): number {
  const sizes = new Map<object, number>()
  const waiting = isContainer(value) ? [value] : []
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const size = sizes.get(next)
    if (size === undefined) {
      sizes.set(next, Number.POSITIVE_INFINITY)
      waiting.push(next)
      for (const inner of Object.values(next)) if (isContainer(inner) && !sizes.has(inner)) waiting.push(inner)
    } else if (size === Number.POSITIVE_INFINITY) {
      const members = Object.entries(next)
      sizes.set(
        next,
        members.reduce((sum, [key, inner]) => sum + key.length + 2 + partSize(inner, sizes), 0),
      )
    }
  }
  return partSize(value, sizes)
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

function partSize(value: unknown, sizes: ReadonlyMap<object, number>): number {
  if (typeof value === 'string') return value.length
  return isContainer(value) ? (sizes.get(value) ?? 0) : 0
}

/** Further names would not help; the JSON parser names as many. */
const duplicatesMax = 100

function pathsOf(value: unknown, path: string, repeated: ReadonlyMap<unknown, ReadonlySet<string>>): string[] {
  if (typeof value !== 'object' || value === null) return []
  const below = (key: string) => (Array.isArray(value) ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`)
  const own = [...(repeated.get(value) ?? [])].map(below)
  return [...own, ...Object.entries(value).flatMap(([key, inner]) => pathsOf(inner, below(key), repeated))]
}
