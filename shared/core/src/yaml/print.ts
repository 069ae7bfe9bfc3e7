import { DUMP_SCHEMA, type DumpOptions, dump, intCoreTag, type ScalarTagDefinition } from 'js-yaml'
import { readPlain } from './scalar.ts'

/**
 * Prints a value as YAML that parsers of versions 1.1 and 1.2 read alike: `"no"` and `"0444"` are quoted. Integers beyond 2^53 must be
 * `bigint`.
 */
export function printYaml(value: unknown): string {
  const text = dump(value, style)
  // A lone surrogate has no UTF-8 form, and parsers refuse its escape.
  return halfPair.test(text) ? dump(wellFormed(value), style) : text
}

const halfPair = /\\uD[89A-F]/

function wellFormed(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed()
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(wellFormed)
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key.toWellFormed(), wellFormed(inner)]))
}

/** Integers of 64 bits stay exact, as in JSON. */
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

/** The form of sigs.k8s.io/yaml, so that texts of both servers can be compared: sorted keys, and lists that are not indented. */
const style = {
  schema: writingSchema,
  noRefs: true,
  lineWidth: -1,
  sortKeys: true,
  seqNoIndent: true,
  quoteStyle: 'double',
} satisfies DumpOptions

function intTagOf(tags: readonly { readonly tagName: string }[]): ScalarTagDefinition<number> {
  // The only tag with this name in the schema is a scalar tag.
  return tags.find(({ tagName }) => tagName === intCoreTag.tagName) as ScalarTagDefinition<number>
}
