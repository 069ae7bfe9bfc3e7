import { DUMP_SCHEMA, dump, intCoreTag, type ScalarTagDefinition } from 'js-yaml'
import { readPlain } from './scalar.ts'

/**
 * The YAML of a value, on whose meaning readers of YAML 1.1 and 1.2 agree: `"no"` and `"0444"` are quoted. Integers beyond 2^53 are
 * `bigint` in it.
 */
export function printYaml(value: unknown): string {
  const text = dump(value, { schema: writingSchema, noRefs: true, lineWidth: -1 })
  // Half of a surrogate pair has no UTF-8, and readers refuse its escape.
  return halfPair.test(text) ? dump(wellFormed(value), { schema: writingSchema, noRefs: true, lineWidth: -1 }) : text
}

const halfPair = /\\uD[89A-F]/

function wellFormed(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed()
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(wellFormed)
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key.toWellFormed(), wellFormed(inner)]))
}

/** Whole numbers of 64 bits are exact, as in JSON. */
const writingSchema = DUMP_SCHEMA.withTags(exact(intTagOf(DUMP_SCHEMA.tags)))

function exact(tag: ScalarTagDefinition<number>): ScalarTagDefinition<number | bigint> {
  return {
    ...tag,
    resolve(source, isExplicit, tagName) {
      const { type, value } = readPlain(source)
      return type === 'int' && typeof value === 'number' ? value : tag.resolve(source, isExplicit, tagName)
    },
    identify: (value) => typeof value === 'bigint' || tag.identify(value),
    represent: (value) => String(value),
  }
}

function intTagOf(tags: readonly { readonly tagName: string }[]): ScalarTagDefinition<number> {
  // The schema has one tag of that name, and it is the scalar one.
  return tags.find(({ tagName }) => tagName === intCoreTag.tagName) as ScalarTagDefinition<number>
}
