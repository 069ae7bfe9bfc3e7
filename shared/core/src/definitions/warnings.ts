import type { WarningRule } from '../kind/define-resource.ts'
import { checkOfFormat } from '../structural/formats.ts'
import type { Part } from '../validation/part.ts'
import { hoist, specOf } from './definition-spec.ts'
import { itemSchema, type SchemaProps, someSchema } from './schema-props.ts'
import { schemasOf } from './strictness.ts'

/** The formats of numbers by type. */
const numberFormats: Readonly<Record<string, readonly string[]>> = { integer: ['int32', 'int64'], number: ['float', 'double'] }

/** The warnings about a definition. A warning about an unchanged part is not repeated. */
export const warningsOfDefinition: WarningRule = (definition, live, _names, { level }) => {
  const { formats, sets } = collect(definition, level)
  const known = live === undefined ? undefined : collect(live, level)
  const before = new Set(known === undefined ? [] : [...known.formats, ...known.sets])
  return [...formats.sort(), ...[...new Set(sets)].sort()].filter((warning) => !before.has(warning))
}

interface Warnings {
  readonly formats: string[]
  readonly sets: string[]
}

/** The first levels that warn about unknown formats, and about sets of objects or lists. */
const formatsWarnedSince = 34
const setsWarnedSince = 37

function collect(definition: Part, level: number): Warnings {
  const found: Warnings = { formats: [], sets: [] }
  for (const root of schemasOf(hoist(specOf(definition)))) {
    someSchema(root, (schema) => {
      if (level >= formatsWarnedSince && hasUnknownFormat(schema))
        found.formats.push(`unrecognized format ${JSON.stringify(schema.format)}`)
      if (level >= setsWarnedSince && schema['x-kubernetes-list-type'] === 'set') addStrangeSet(schema, found.sets)
      return false
    })
  }
  return found
}

function hasUnknownFormat({ type = '', format = '' }: SchemaProps): boolean {
  if (format === '') return false
  // A schema without a type may describe a string.
  const isKnown = type === '' || type === 'string' ? checkOfFormat(format) !== undefined : numberFormats[type]?.includes(format)
  return isKnown !== true
}

function addStrangeSet(schema: SchemaProps, sets: string[]): void {
  const type = itemSchema(schema)?.type
  if (type !== 'object' && type !== 'array') return
  sets.push(`x-kubernetes-list-type: set for items of type "${type}" is not supported by server-side apply or CEL validation rules`)
}
