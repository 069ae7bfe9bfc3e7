import { checked, field, needed } from '../../../description/fields.ts'
import { string, text } from '../../../description/texts.ts'
import { checkQualifiedName, compareQuantities, type FieldError, parseQuantity, quantitySign } from '../../../meta/index.ts'
import { invalidValue, requiredValue, unsupportedValue } from '../../../validation/field-errors.ts'
import { optionalPart, type Part, textOf } from '../../../validation/part.ts'
import { as, type PartRule, type RuleContext, type TypeRules, within } from '../../../validation/rule-book.ts'
import { isGiven, requireText } from '../checks.ts'

const sources = ['fieldRef', 'resourceFieldRef', 'configMapKeyRef', 'secretKeyRef', 'fileKeyRef']
const tooMany = 'may not have more than one field specified at a time'
const anyName = as('name', checked(text('subdomain')))
const name = as('name', needed(text('subdomain')))

/** Variables of containers, and their sources. */
export const environmentRules: Readonly<Record<string, TypeRules>> = {
  'core/v1.EnvVar': [
    { until: 31, step: 'name' },
    { since: 32, step: as('name', needed(text('relaxedVariableName'))) },
    'valueFrom',
    validateSource,
  ],
  'core/v1.EnvVarSource': [
    fieldRefRule('variable'),
    resourceRefRule('variable'),
    within('configMapKeyRef', anyName, 'key'),
    within('secretKeyRef', anyName, 'key'),
    within(
      'fileKeyRef',
      as('key', needed(text('relaxedVariableName'))),
      as('volumeName', needed(text('label'))),
      as('path', needed(string())),
      refuseBacksteps,
    ),
  ],
  'core/v1.EnvFromSource': [
    { until: 31, step: 'prefix' },
    { since: 32, step: as('prefix', field(text('relaxedVariableName'))) },
    within('configMapRef', name),
    within('secretRef', name),
    validateWholeSource,
  ],
}

const oneSource = 'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`'

function refuseBacksteps(errors: FieldError[], reference: Part, at: string): void {
  const path = textOf(reference, 'path')
  if (path.split('/').includes('..')) errors.push(invalidValue(`${at}.path`, path, "must not contain '..'"))
}

function validateSource(errors: FieldError[], variable: Part, at: string, { isGateOn }: RuleContext): void {
  const source = optionalPart(variable, 'valueFrom')
  if (source === undefined) return
  const count = sources.filter((name) => isGiven(source, name)).length
  const refuse = (detail: string): void => void errors.push(invalidValue(`${at}.valueFrom`, '', detail))
  if (count === 0) refuse(isGateOn('EnvFiles') ? `${oneSource}, \`secretKeyRef\` or \`fileKeyRef\`` : `${oneSource} or \`secretKeyRef\``)
  else if (textOf(variable, 'value') !== '') refuse('may not be specified when `value` is not empty')
  else if (count > 1) refuse(tooMany)
}

/** Like kube-apiserver, reports the list and not its item. */
function validateWholeSource(errors: FieldError[], source: Part, at: string): void {
  const count = ['configMapRef', 'secretRef'].filter((name) => isGiven(source, name)).length
  const path = at.slice(0, at.lastIndexOf('['))
  if (count === 0) errors.push(invalidValue(path, '', 'must specify one of: `configMapRef` or `secretRef`'))
  if (count > 1) errors.push(invalidValue(path, '', tooMany))
}

/** The place that uses a Pod's field: an environment variable, or a file in a volume. */
type Reader = 'variable' | 'file'

/** Fields of a Pod that can be referenced; each place allows only some of them. */
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

/** A rule for a reference to a field of the Pod, such as `metadata.labels['app']`. */
export function fieldRefRule(reader: Reader): PartRule {
  return (errors, part, at) => {
    const reference = optionalPart(part, 'fieldRef')
    if (reference !== undefined) validateFieldRef(errors, reference, `${at}.fieldRef`, reader)
  }
}

function validateFieldRef(errors: FieldError[], fieldRef: Part, at: string, reader: Reader): void {
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
  // A regular expression for both brackets would take minutes on a long text with many opening ones.
  const start = text.endsWith("']") && text.length >= 4 ? text.lastIndexOf("['", text.length - 4) : -1
  return start < 0 ? { path: text } : { path: text.slice(0, start), subscript: text.slice(start + 2, -2) }
}

const resourceFields = [
  ...['limits.cpu', 'limits.ephemeral-storage', 'limits.memory'],
  ...['requests.cpu', 'requests.ephemeral-storage', 'requests.memory'],
]

const sizeUnits = ['1', '1k', '1M', '1G', '1T', '1P', '1E', '1Ki', '1Mi', '1Gi', '1Ti', '1Pi', '1Ei']

/** A rule for a reference to a container's limit or request. */
export function resourceRefRule(reader: Reader): PartRule {
  return (errors, part, at) => {
    const reference = optionalPart(part, 'resourceFieldRef')
    if (reference !== undefined) validateResourceRef(errors, reference, `${at}.resourceFieldRef`, reader)
  }
}

function validateResourceRef(errors: FieldError[], reference: Part, at: string, reader: Reader): void {
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
