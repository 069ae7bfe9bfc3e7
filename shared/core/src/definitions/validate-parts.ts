import type { FieldError } from '../meta/status.ts'
import { duplicateValue, forbiddenValue, invalidValue, requiredValue, tooManyValues } from '../validation/field-errors.ts'
import type { DefinitionColumn, DefinitionSubresources, VersionParts } from './definition-spec.ts'
import { followSchemaPath } from './schema-path.ts'
import type { SchemaProps } from './schema-props.ts'

const columnTypes = ['boolean', 'date', 'integer', 'number', 'string']
const columnFormats = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password']
const selectableTypes = ['string', 'boolean', 'integer']
const selectableFieldsMax = 8

/** Validates subresources: the paths of scale. */
export function validateSubresources(subresources: DefinitionSubresources | undefined, at: string): FieldError[] {
  const scale = subresources?.scale
  if (scale === undefined) return []
  const { specReplicasPath: spec = '', statusReplicasPath: status = '', labelSelectorPath: selector = '' } = scale
  return [
    ...(spec === '' ? [requiredValue(`${at}.scale.specReplicasPath`)] : checkPathBelow(`${at}.scale.specReplicasPath`, spec, ['.spec'])),
    ...(status === ''
      ? [requiredValue(`${at}.scale.statusReplicasPath`)]
      : checkPathBelow(`${at}.scale.statusReplicasPath`, status, ['.status'])),
    ...(selector === '' ? [] : checkPathBelow(`${at}.scale.labelSelectorPath`, selector, ['.spec', '.status'])),
  ]
}

function checkPathBelow(field: string, path: string, roots: readonly string[]): FieldError[] {
  const problems = checkSimplePath(field, path)
  if (problems.length > 0 || roots.some((root) => path.startsWith(`${root}.`))) return problems
  return [invalidValue(field, path, `should be a json path under ${roots.length > 1 ? 'either ' : ''}${roots.join(' or ')}`)]
}

function checkSimplePath(field: string, path: string): FieldError[] {
  return path.startsWith('.') ? [] : [invalidValue(field, path, 'must be a simple json path starting with .')]
}

/** Validates a printer column. */
export function validateColumn({ name = '', type = '', format = '', jsonPath = '' }: DefinitionColumn, at: string): FieldError[] {
  const errors = name === '' ? [requiredValue(`${at}.name`)] : []
  const types = `must be one of ${columnTypes.join(',')}`
  if (type === '') errors.push(requiredValue(`${at}.type`, types))
  else if (!columnTypes.includes(type)) errors.push(invalidValue(`${at}.type`, type, types))
  if (format !== '' && !columnFormats.includes(format)) {
    errors.push(invalidValue(`${at}.format`, format, `must be one of ${columnFormats.join(',')}`))
  }
  return [...errors, ...(jsonPath === '' ? [requiredValue(`${at}.JSONPath`)] : checkSimplePath(`${at}.JSONPath`, jsonPath))]
}

/** Validates selectable fields: each must lead to a scalar outside of metadata. */
export function validateSelectableFields(
  fields: NonNullable<VersionParts['selectableFields']>,
  schema: SchemaProps,
  at: string,
  { allowsMany }: { readonly allowsMany: boolean },
): FieldError[] {
  const known = new Set<string>()
  const errors = fields.flatMap(({ jsonPath = '' }, index) => {
    const field = `${at}[${index}].jsonPath`
    if (jsonPath === '') return [requiredValue(field)]
    const path = followSchemaPath(jsonPath, schema, { allowsBrackets: false })
    if (path.kind === 'wrong') return [invalidValue(field, jsonPath, `is an invalid path: ${path.problem}`)]
    const problems: FieldError[] = []
    if (path.names[0] === 'metadata') problems.push(invalidValue(field, jsonPath, 'must not point to fields in metadata'))
    if (!selectableTypes.includes(path.schema.type ?? '')) problems.push(invalidValue(field, jsonPath, wrongTarget))
    if (known.has(path.text)) problems.push(duplicateValue(field, jsonPath))
    known.add(path.text)
    return problems
  })
  return allowsMany || known.size <= selectableFieldsMax ? errors : [...errors, tooManyValues(at, known.size, selectableFieldsMax)]
}

const wrongTarget = 'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.'

const deprecationWarningMax = 256

/** Validates the deprecation warning of a version. */
export function checkDeprecationWarning(isDeprecated: boolean, warning: string | undefined): string[] {
  if (warning === undefined) return []
  if (!isDeprecated) return ['can only be set for deprecated versions']
  const problems: string[] = []
  if (new TextEncoder().encode(warning).length > deprecationWarningMax) problems.push(`must be <= ${deprecationWarningMax} characters long`)
  if (warning === '') problems.push('must not be an empty string')
  const unprintable = warning.search(/[^\P{C}]|[^\P{Z} ]/u)
  if (unprintable < 0) return problems
  const bytesBefore = new TextEncoder().encode(warning.slice(0, unprintable)).length
  return [...problems, `must only contain printable UTF-8 characters; non-printable character found at index ${bytesBefore}`]
}

/** Refuses a member that only a webhook conversion may have. */
export function forbidWithoutWebhook(field: string): FieldError {
  return forbiddenValue(field, 'should not be set when strategy is not set to Webhook')
}
