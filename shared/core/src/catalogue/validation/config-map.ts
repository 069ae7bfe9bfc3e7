import type { FieldError } from '../../meta/status.ts'
import { forbiddenValue, invalidValue, tooLongValue } from '../../validation/field-errors.ts'
import { isSame, optionalPart, type Part } from '../../validation/part.ts'
import { bytesOf, bytesOfBase64, validateDataKey } from '../../validation/texts.ts'

/** Maximum size of all values of a ConfigMap or Secret. */
export const dataBytesMax = 1_048_576

/** The rules of a ConfigMap. A key may not be in both `data` and `binaryData`. */
export function validateConfigMap(configMap: Part, live: Part | undefined): FieldError[] {
  const errors = live === undefined ? [] : validateFrozen(configMap, live, ['data', 'binaryData'])
  const texts = optionalPart(configMap, 'data')
  const binaries = optionalPart(configMap, 'binaryData')
  let bytes = 0
  for (const key in texts) {
    validateDataKey(errors, 'data', key)
    if (binaries !== undefined && Object.hasOwn(binaries, key)) {
      errors.push(invalidValue(`data[${key}]`, key, 'duplicate of key present in binaryData'))
    }
    bytes += bytesOf(String(texts[key]))
  }
  for (const key in binaries) {
    validateDataKey(errors, 'binaryData', key)
    bytes += bytesOfBase64(String(binaries[key]))
  }
  if (bytes > dataBytesMax) errors.push(tooLongValue('[]', dataBytesMax))
  return errors
}

/** An immutable object cannot be changed, nor become mutable again. */
export function validateFrozen(object: Part, live: Part, fields: readonly string[]): FieldError[] {
  if (live['immutable'] !== true) return []
  const detail = 'field is immutable when `immutable` is set'
  const errors = object['immutable'] === true ? [] : [forbiddenValue('immutable', detail)]
  for (const field of fields)
    if (!isSame(optionalPart(object, field) ?? {}, optionalPart(live, field) ?? {})) errors.push(forbiddenValue(field, detail))
  return errors
}
