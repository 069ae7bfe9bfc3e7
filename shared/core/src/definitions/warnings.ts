import type { Part } from '../catalogue/validation/part.ts'
import { checkOfFormat } from '../structural/formats.ts'
import { hoist, specOf } from './definition-spec.ts'
import { itemSchema, type SchemaProps, someSchema } from './schema-props.ts'
import { schemasOf } from './strictness.ts'

/** The formats of numbers by type. */
const numberFormats: Readonly<Record<string, readonly string[]>> = { integer: ['int32', 'int64'], number: ['float', 'double'] }

/** What the writer of a definition should know of it. What was so before is not repeated. */
export function warningsOfDefinition(definition: Part, live: Part | undefined): string[] {
  const [formats, sets] = [unknownFormats(definition), strangeSets(definition)]
  const before = new Set(live === undefined ? [] : [...unknownFormats(live), ...strangeSets(live)])
  return [...formats.sort(), ...[...new Set(sets)].sort()].filter((warning) => !before.has(warning))
}

function unknownFormats(definition: Part): string[] {
  return collect(definition, ({ type = '', format = '' }) => {
    // An empty type may be a text.
    const isKnown = type === '' || type === 'string' ? checkOfFormat(format) !== undefined : numberFormats[type]?.includes(format)
    return format === '' || isKnown === true ? undefined : `unrecognized format ${JSON.stringify(format)}`
  })
}

function strangeSets(definition: Part): string[] {
  return collect(definition, (schema) => {
    const type = itemSchema(schema)?.type
    if (schema['x-kubernetes-list-type'] !== 'set' || (type !== 'object' && type !== 'array')) return undefined
    return `x-kubernetes-list-type: set for items of type "${type}" is not supported by server-side apply or CEL validation rules`
  })
}

function collect(definition: Part, warningOf: (schema: SchemaProps) => string | undefined): string[] {
  const found: string[] = []
  for (const root of schemasOf(hoist(specOf(definition)))) {
    someSchema(root, (schema) => {
      const warning = warningOf(schema)
      if (warning !== undefined) found.push(warning)
      return false
    })
  }
  return found
}
