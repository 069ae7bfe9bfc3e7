import type { FieldError } from '../../meta/status.ts'
import { checkLabel1035, checkPathSegment, checkSubdomain } from '../../meta/validate-names.ts'
import { invalidFor, invalidValue, requiredValue, unsupportedValue } from '../../validation/field-errors.ts'
import { itemsOf, optionalPart, type Part, partOf, textOf } from '../../validation/part.ts'
import { bytesOfBase64, checkPortNumber } from '../../validation/texts.ts'

const groupPriorityMax = 20_000
const versionPriorityMax = 1_000
const statuses = ['False', 'True', 'Unknown']

/** The rules of an APIService, which is called by what it serves. */
export function validateApiService(service: Part): FieldError[] {
  const spec = partOf(service, 'spec')
  const [group, version] = [textOf(spec, 'group'), textOf(spec, 'version')]
  const errors = validateName(textOf(partOf(service, 'metadata'), 'name'), `${version}.${group}`)
  if (group !== '') errors.push(...invalidFor('spec.group', group, checkSubdomain(group)))
  else if (version !== 'v1') errors.push(requiredValue('spec.group', 'only v1 may have an empty group and it better be legacy kube'))
  errors.push(...invalidFor('spec.version', version, checkLabel1035(version)))
  validatePriority(errors, spec, 'groupPriorityMinimum', groupPriorityMax)
  validatePriority(errors, spec, 'versionPriority', versionPriorityMax)
  const served = optionalPart(spec, 'service')
  return [...errors, ...(served === undefined ? validateLocal(spec) : validateRemote(spec, served))]
}

/** The rules of its status. */
export function validateApiServiceStatus(service: Part): FieldError[] {
  return itemsOf(partOf(service, 'status'), 'conditions').flatMap((condition, index) => {
    const status = textOf(condition, 'status')
    return statuses.includes(status) ? [] : [unsupportedValue(`status.conditions[${index}].status`, status, statuses)]
  })
}

function validateName(name: string, required: string): FieldError[] {
  // What is no name at all is reported with the metadata.
  if (name === '' || name === required || checkPathSegment(name).length > 0) return []
  return [invalidValue('metadata.name', name, `must be \`spec.version+"."+spec.group\`: ${JSON.stringify(required)}`)]
}

function validatePriority(errors: FieldError[], spec: Part, name: string, max: number): void {
  const priority = typeof spec[name] === 'number' ? spec[name] : 0
  if (priority <= 0 || priority > max) errors.push(invalidValue(`spec.${name}`, priority, `must be positive and less than ${max}`))
}

function authorityOf(spec: Part): string {
  return textOf(spec, 'caBundle')
}

/** The server itself needs no authority. */
function validateLocal(spec: Part): FieldError[] {
  const errors: FieldError[] = []
  const authority = authorityOf(spec)
  if (authority !== '') {
    errors.push(invalidValue('spec.caBundle', `${bytesOfBase64(authority)} bytes`, 'local APIServices may not have a caBundle'))
  }
  if (spec['insecureSkipTLSVerify'] === true) {
    errors.push(invalidValue('spec.insecureSkipTLSVerify', true, 'local APIServices may not have insecureSkipTLSVerify'))
  }
  return errors
}

function validateRemote(spec: Part, service: Part): FieldError[] {
  const errors: FieldError[] = []
  for (const name of ['namespace', 'name']) if (textOf(service, name) === '') errors.push(requiredValue(`spec.service.${name}`))
  const port = typeof service['port'] === 'number' ? service['port'] : 0
  for (const fault of checkPortNumber(port)) errors.push(invalidValue('spec.service.port', port, `port is not valid: ${fault}`))
  if (spec['insecureSkipTLSVerify'] === true && authorityOf(spec) !== '') {
    errors.push(invalidValue('spec.insecureSkipTLSVerify', true, 'may not be true if caBundle is present'))
  }
  return errors
}
