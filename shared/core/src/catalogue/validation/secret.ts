import { cannotUnmarshal, decodeJson, decodeText, isJsonObject } from '../../json/index.ts'
import { type FieldError, parseBase64 } from '../../meta/index.ts'
import { domainLabel, type Names } from '../../names.ts'
import { immutableValue, invalidValue, requiredValue, tooLongValue } from '../../validation/field-errors.ts'
import { type Part, partOf, textOf } from '../../validation/part.ts'
import { bytesOfBase64, validateDataKey } from '../../validation/texts.ts'
import { dataBytesMax, validateFrozen } from './config-map.ts'

/** The rules of a Secret, some of which depend on its type. */
export function validateSecret(secret: Part, live: Part | undefined, names: Names): FieldError[] {
  const errors =
    live === undefined ? [] : [...immutableValue('type', secret['type'], live['type']), ...validateFrozen(secret, live, ['data'])]
  const data = partOf(secret, 'data')
  let bytes = 0
  for (const key in data) {
    validateDataKey(errors, 'data', key)
    bytes += bytesOfBase64(String(data[key]))
  }
  if (bytes > dataBytesMax) errors.push(tooLongValue('data', dataBytesMax))
  const type = textOf(secret, 'type')
  return type === 'Opaque' ? errors : [...errors, ...validateContents(secret, data, type, names)]
}

function validateContents(secret: Part, data: Part, type: string, names: Names): FieldError[] {
  const missing = (keys: readonly string[]): FieldError[] =>
    keys.filter((key) => !Object.hasOwn(data, key)).map((key) => requiredValue(`data[${key}]`))
  const isEmpty = (key: string): boolean => bytesOfBase64(textOf(data, key)) === 0
  switch (type) {
    case domainLabel(names, 'service-account-token'): {
      const annotation = domainLabel(names, 'service-account.name')
      const account = textOf(partOf(partOf(secret, 'metadata'), 'annotations'), annotation)
      return account === '' ? [requiredValue(`metadata.annotations[${annotation}]`)] : []
    }
    case domainLabel(names, 'dockercfg'):
      return validateJson(data, '.dockercfg')
    case domainLabel(names, 'dockerconfigjson'):
      return validateJson(data, '.dockerconfigjson')
    case domainLabel(names, 'basic-auth'):
      return ['username', 'password'].some((key) => Object.hasOwn(data, key)) ? [] : missing(['username', 'password'])
    case domainLabel(names, 'ssh-auth'):
      return isEmpty('ssh-privatekey') ? [requiredValue('data[ssh-privatekey]')] : []
    case domainLabel(names, 'tls'):
      return missing(['tls.crt', 'tls.key'])
    default:
      return []
  }
}

/** The message omits the value because it is secret. */
function validateJson(data: Part, key: string): FieldError[] {
  const field = `data[${key}]`
  if (!Object.hasOwn(data, key)) return [requiredValue(field)]
  const problem = jsonProblem(decodeText(parseBase64(textOf(data, key)) ?? new Uint8Array()))
  return problem === undefined ? [] : [invalidValue(field, '<secret contents redacted>', problem)]
}

function jsonProblem(text: string): string | undefined {
  const decoded = decodeJson(text)
  if (decoded.kind === 'malformed') return decoded.message
  const { value } = decoded
  if (value === null || isJsonObject(value)) return undefined
  return cannotUnmarshal(value, 'map[string]interface {}')
}
