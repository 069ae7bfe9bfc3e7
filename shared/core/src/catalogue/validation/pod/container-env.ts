import { compareQuantities, parseQuantity, quantitySign } from '../../../meta/quantity.ts'
import type { FieldError } from '../../../meta/status.ts'
import { checkQualifiedName, checkSubdomain, explain } from '../../../meta/validate-names.ts'
import { invalidFor, invalidValue, requiredValue, unsupportedValue } from '../../../validation/field-errors.ts'
import { optionalPart, type Part, partOf, textOf } from '../../../validation/part.ts'
import { checkDataKey } from '../../../validation/texts.ts'
import { allowChecked, isGiven, requireChecked, requireText } from '../checks.ts'

const variablePattern = /^[-._a-zA-Z][-._a-zA-Z0-9]*$/
const wrongVariable = explain(
  "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or '.', and must not start with a digit",
  ['my.env-name', 'MY_ENV.NAME', 'MyEnvName1'],
  '[-._a-zA-Z][-._a-zA-Z0-9]*',
)

/** What is wrong with the name of a variable; empty when nothing is. */
function checkVariableName(name: string): readonly string[] {
  const problems = variablePattern.test(name) ? [] : [wrongVariable]
  if (name === '.' || name === '..') problems.push(`must not be '${name}'`)
  else if (name.startsWith('..')) problems.push("must not start with '..'")
  return problems
}

/** The variables of a container. */
export function validateEnv(errors: FieldError[], variables: readonly Part[], path: string): void {
  for (const [index, variable] of variables.entries()) {
    requireChecked(errors, { part: variable, name: 'name', at: `${path}[${index}]` }, checkVariableName)
    const source = optionalPart(variable, 'valueFrom')
    if (source !== undefined) validateSource(errors, source, textOf(variable, 'value'), `${path}[${index}].valueFrom`)
  }
}

const sources = ['fieldRef', 'resourceFieldRef', 'configMapKeyRef', 'secretKeyRef']

function validateSource(errors: FieldError[], source: Part, value: string, path: string): void {
  const fieldRef = optionalPart(source, 'fieldRef')
  if (fieldRef !== undefined) validateFieldRef(errors, fieldRef, `${path}.fieldRef`, 'variable')
  const resourceRef = optionalPart(source, 'resourceFieldRef')
  if (resourceRef !== undefined) validateResourceRef(errors, resourceRef, `${path}.resourceFieldRef`, 'variable')
  for (const name of ['configMapKeyRef', 'secretKeyRef']) {
    const keyRef = optionalPart(source, name)
    if (keyRef === undefined) continue
    const object = textOf(keyRef, 'name')
    errors.push(...invalidFor(`${path}.${name}.name`, object, checkSubdomain(object)))
    requireChecked(errors, { part: keyRef, name: 'key', at: `${path}.${name}` }, checkDataKey)
  }
  const count = sources.filter((name) => isGiven(source, name)).length
  if (count === 0) {
    errors.push(invalidValue(path, '', 'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`'))
  } else if (value !== '') errors.push(invalidValue(path, '', 'may not be specified when `value` is not empty'))
  else if (count > 1) errors.push(invalidValue(path, '', 'may not have more than one field specified at a time'))
}

/** Whole maps of variables. */
export function validateEnvFrom(errors: FieldError[], list: readonly Part[], path: string): void {
  for (const [index, source] of list.entries()) {
    const at = `${path}[${index}]`
    allowChecked(errors, { part: source, name: 'prefix', at }, checkVariableName)
    const given = ['configMapRef', 'secretRef'].filter((name) => isGiven(source, name))
    for (const name of given) requireChecked(errors, { part: partOf(source, name), name: 'name', at: `${at}.${name}` }, checkSubdomain)
    if (given.length === 0) errors.push(invalidValue(path, '', 'must specify one of: `configMapRef` or `secretRef`'))
    if (given.length > 1) errors.push(invalidValue(path, '', 'may not have more than one field specified at a time'))
  }
}

/** What a Pod's field is read for: a variable, or a file in a volume. */
type Reader = 'variable' | 'file'

/** Fields of a Pod that can be read at all; the readers may know fewer. */
const readableFields = new Set([
  ...['metadata.annotations', 'metadata.labels', 'metadata.name', 'metadata.namespace', 'metadata.uid'],
  ...['spec.nodeName', 'spec.restartPolicy', 'spec.serviceAccountName', 'spec.schedulerName', 'spec.host'],
  ...['status.phase', 'status.hostIP', 'status.podIP', 'status.podIPs'],
])

const fieldsByReader: Readonly<Record<Reader, readonly string[]>> = {
  variable: [
    ...['metadata.name', 'metadata.namespace', 'metadata.uid', 'spec.nodeName', 'spec.serviceAccountName'],
    ...['status.hostIP', 'status.podIP', 'status.podIPs'],
  ],
  file: ['metadata.annotations', 'metadata.labels', 'metadata.name', 'metadata.namespace', 'metadata.uid'],
}

/** A field of the Pod itself, such as `metadata.labels['app']`. */
export function validateFieldRef(errors: FieldError[], fieldRef: Part, at: string, reader: Reader): void {
  if (!requireText(errors, { part: fieldRef, name: 'apiVersion', at }) || !requireText(errors, { part: fieldRef, name: 'fieldPath', at }))
    return
  const version = textOf(fieldRef, 'apiVersion')
  const text = textOf(fieldRef, 'fieldPath')
  const problem = version === 'v1' ? findUnreadable(text) : `unsupported pod version: ${version}`
  if (problem !== undefined) {
    errors.push(invalidValue(`${at}.fieldPath`, text, `error converting fieldPath: ${problem}`))
    return
  }
  const { path, subscript } = splitSubscript(text)
  if (subscript !== undefined) {
    const key = path === 'metadata.annotations' ? subscript.toLowerCase() : subscript
    for (const wrong of checkQualifiedName(key)) errors.push(invalidValue(at, subscript, wrong))
    return
  }
  const known = path === 'spec.host' ? 'spec.nodeName' : path
  if (!fieldsByReader[reader].includes(known)) errors.push(unsupportedValue(`${at}.fieldPath`, known, fieldsByReader[reader]))
}

function findUnreadable(text: string): string | undefined {
  const { path, subscript } = splitSubscript(text)
  if (subscript === undefined) return readableFields.has(path) ? undefined : `field label not supported: ${text}`
  const isMap = path === 'metadata.annotations' || path === 'metadata.labels'
  return isMap ? undefined : `field label does not support subscript: ${text}`
}

function splitSubscript(text: string): { path: string; subscript?: string } {
  // Not by a pattern: one that looks for both brackets takes minutes over a long text that has many of the first.
  const start = text.endsWith("']") && text.length >= 4 ? text.lastIndexOf("['", text.length - 4) : -1
  return start < 0 ? { path: text } : { path: text.slice(0, start), subscript: text.slice(start + 2, -2) }
}

const resourceFields = [
  ...['limits.cpu', 'limits.ephemeral-storage', 'limits.memory'],
  ...['requests.cpu', 'requests.ephemeral-storage', 'requests.memory'],
]

const sizeUnits = ['1', '1k', '1M', '1G', '1T', '1P', '1E', '1Ki', '1Mi', '1Gi', '1Ti', '1Pi', '1Ei']

/** What a container may use or asks for. */
export function validateResourceRef(errors: FieldError[], reference: Part, at: string, reader: Reader): void {
  if (reader === 'file' && textOf(reference, 'containerName') === '') errors.push(requiredValue(`${at}.containerName`))
  if (!requireText(errors, { part: reference, name: 'resource', at })) return
  const resource = textOf(reference, 'resource')
  if (!resourceFields.includes(resource)) {
    if (!/^(?:limits|requests)\.hugepages-/.test(resource)) errors.push(unsupportedValue(`${at}.resource`, resource, resourceFields))
    return
  }
  validateDivisor(errors, textOf(reference, 'divisor'), resource, `${at}.divisor`)
}

function validateDivisor(errors: FieldError[], text: string, resource: string, path: string): void {
  const divisor = parseQuantity(text)
  if (divisor === undefined || quantitySign(divisor) === 0) return
  const [, kind = ''] = resource.split('.')
  const units = kind === 'cpu' ? ['1m', '1'] : sizeUnits
  const isUnit = units.some((unit) => {
    const quantity = parseQuantity(unit)
    return quantity !== undefined && compareQuantities(quantity, divisor) === 0
  })
  if (isUnit) return
  const list = kind === 'cpu' ? '1m and 1' : units.join(', ')
  const name = kind === 'ephemeral-storage' ? 'local ephemeral storage' : kind
  errors.push(invalidValue(path, resource, `only divisor's values ${list} are supported with the ${name} resource`))
}
