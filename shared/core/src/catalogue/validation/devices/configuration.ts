import { isJsonObject, printJson } from '../../../json/index.ts'
import { checkQualifiedName, type FieldError, type LevelText } from '../../../meta/index.ts'
import { declaredSince } from '../../../validation/device-texts.ts'
import { invalidFor, invalidValue, requiredValue, tooLongValue } from '../../../validation/field-errors.ts'
import { isSame, type Part, partOf, textOf } from '../../../validation/part.ts'
import type { RuleContext, TypeRules } from '../../../validation/rule-book.ts'
import { bytesOf } from '../../../validation/texts.ts'
import { isGiven } from '../checks.ts'

const parametersBytesMax = 10 * 1024

/** Configuration of devices for their drivers. */
export const configurationRules: Readonly<Record<string, TypeRules>> = {
  'resource/v1.OpaqueDeviceConfiguration': ['driver', validateParameters],
  'resource/v1.DeviceClassSpec': ['selectors', 'config', validateExtendedResource],
}

/** The name of an extended resource has a domain that is not reserved, and is valid in a quota. */
function validateExtendedResource(errors: FieldError[], spec: Part, at: string, context: RuleContext): void {
  if (!isGiven(spec, 'extendedResourceName')) return
  const name = textOf(spec, 'extendedResourceName')
  const reserved = `${context.names.labelDomain}/`
  const problems: LevelText[] = []
  if (!name.includes('/')) problems.push("a name must be a domain-prefixed path, such as 'example.com/my-prop'")
  else if (name.includes(reserved)) problems.push(`must not have "${reserved}" domain`)
  if (name.startsWith('requests.')) problems.push('must not have "requests." prefix')
  problems.push(...checkQualifiedName(`requests.${name}`))
  const field = `${at}.extendedResourceName`
  if (context.level >= declaredSince) context.declared.push(...invalidFor(field, name, problems))
  else if (problems.length > 0) errors.push(invalidValue(field, name, 'must be a valid extended resource name'))
}

function validateParameters(errors: FieldError[], configuration: Part, at: string, context: RuleContext): void {
  validateOpaque(errors, { value: configuration['parameters'], field: `${at}.parameters`, isStored: isStored(context) })
}

/** True for the unchanged configuration of a class, which may be longer. */
function isStored({ object, live }: RuleContext): boolean {
  if (live === undefined || object['kind'] !== 'DeviceClass') return false
  return isSame(partOf(object, 'spec')['config'], partOf(live, 'spec')['config'])
}

interface OpaqueValue {
  readonly value: unknown
  readonly field: string
  readonly isStored?: boolean
}

/** Adds the errors of a driver's opaque parameters. */
export function validateOpaque(errors: FieldError[], { value, field, isStored: mayBeLong = false }: OpaqueValue): void {
  if (value === undefined || value === null) errors.push(requiredValue(field))
  else if (!mayBeLong && bytesOf(printJson(value)) > parametersBytesMax) errors.push(tooLongValue(field, parametersBytesMax))
  else if (!isJsonObject(value)) errors.push(invalidValue(field, '<value omitted>', 'must be a valid JSON object'))
}
