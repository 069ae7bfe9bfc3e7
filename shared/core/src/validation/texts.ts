import { explain } from '@orch/cel/name-formats'
import { checkLabel, checkSubdomain, type FieldError, joinTexts } from '../meta/index.ts'
import { invalidValue, requiredValue } from './field-errors.ts'

const fine: readonly string[] = Object.freeze([])

const keyLengthMax = 253
const keyPattern = /^[-._a-zA-Z0-9]+$/
const wrongKey = explain(
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
  ['key.name', 'KEY_NAME', 'key-name'],
  '[-._a-zA-Z0-9]+',
)

/** The errors of a key in a ConfigMap or Secret, which may become a file name. */
export function checkDataKey(key: string): readonly string[] {
  if (key.length <= keyLengthMax && keyPattern.test(key) && !key.startsWith('.')) return fine
  const problems: string[] = []
  if (key.length > keyLengthMax) problems.push(`must be no more than ${keyLengthMax} characters`)
  if (!keyPattern.test(key)) problems.push(wrongKey)
  if (key === '.' || key === '..') problems.push(`must not be '${key}'`)
  else if (key.startsWith('..')) problems.push("must not start with '..'")
  return problems
}

/** Validates a key of a ConfigMap or Secret. It runs for every key of every write, so a valid key allocates no path. */
export function validateDataKey(errors: FieldError[], field: string, key: string): void {
  for (const problem of checkDataKey(key)) errors.push(invalidValue(`${field}[${key}]`, key, problem))
}

const portNameLengthMax = 15

/** The errors of a container port's name. */
export function checkPortName(name: string): readonly string[] {
  const problems: string[] = []
  if (name.length > portNameLengthMax) problems.push(`must be no more than ${portNameLengthMax} characters`)
  if (!/^[-a-z0-9]+$/.test(name)) problems.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)')
  if (!/[a-z]/.test(name)) problems.push('must contain at least one letter (a-z)')
  if (name.includes('--')) problems.push('must not contain consecutive hyphens')
  if (name.startsWith('-') || name.endsWith('-')) problems.push('must not begin or end with a hyphen')
  return problems
}

/** The errors of a port number. */
export function checkPortNumber(port: number): readonly string[] {
  return port >= 1 && port <= 65_535 ? fine : ['must be between 1 and 65535, inclusive']
}

/** Validates a name of at least three labels, which webhooks have. */
export function validateQualifiedDomain(name: string, field: string): FieldError[] {
  if (name === '') return [requiredValue(field)]
  const problems = checkSubdomain(name)
  if (problems.length > 0) return [invalidValue(field, name, problems.join(','))]
  return name.split('.').length >= 3 ? [] : [invalidValue(field, name, 'should be a domain with at least three segments separated by dots')]
}

/** Validates a name of at least two labels, with or without a final dot. */
export function validateHostDomain(name: string, field: string): FieldError[] {
  if (name === '') return [requiredValue(field)]
  const bare = name.replace(/\.$/, '')
  const problems = checkSubdomain(bare)
  if (problems.length > 0) return [invalidValue(field, bare, problems.join(','))]
  const labels = bare.split('.')
  if (labels.length < 2) return [invalidValue(field, bare, 'should be a domain with at least two segments separated by dots')]
  for (const label of labels) {
    const wrong = checkLabel(label)
    if (wrong.length > 0) return [invalidValue(field, label, joinTexts(wrong, ','))]
  }
  return []
}

const urlPath = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+"
const urlPathPattern = new RegExp(`^${urlPath}$`)

/** Validates a path below a domain: `acme.io/foo`. */
export function validateDomainPath(text: string, field: string): FieldError[] {
  if (text === '') return [requiredValue(field)]
  const slash = text.indexOf('/')
  const [host, path] = [text.slice(0, slash), text.slice(slash + 1)]
  if (slash < 1 || path === '') return [invalidValue(field, text, 'must be a domain-prefixed path (such as "acme.io/foo")')]
  const errors = checkSubdomain(host).map((problem): FieldError => invalidValue(field, host, problem))
  if (!urlPathPattern.test(path)) errors.push(invalidValue(field, path, `Invalid path (regex used for validation is '${urlPath}')`))
  return errors
}

/** The number of bytes of a text in UTF-8. */
export function bytesOf(text: string): number {
  let bytes = text.length
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    // A surrogate pair is four bytes: each half adds one to its own unit.
    if (unit > 0x7f) bytes += unit > 0x7ff && (unit < 0xd800 || unit > 0xdfff) ? 2 : 1
  }
  return bytes
}

/** The number of bytes that a base64 text encodes. */
export function bytesOfBase64(text: string): number {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
  return (text.length / 4) * 3 - padding
}
