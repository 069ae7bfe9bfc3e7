import { checkLabel1035, checkPathSegment, checkSubdomain, type FieldError, type NameCheck } from '../../meta/index.ts'
import { invalidFor, invalidValue, requiredValue } from '../../validation/field-errors.ts'
import { type Part, partOf, textOf } from '../../validation/part.ts'
import type { TypeRules } from '../../validation/rule-book.ts'
import { bytesOfBase64, checkPortNumber } from '../../validation/texts.ts'
import { isGiven } from './checks.ts'

/** An APIService, which is named after its group version. */
export const apiServiceRules: Readonly<Record<string, TypeRules>> = {
  'apiregistration/v1.APIServiceSpec': [
    validateGroupVersion,
    ...['groupPriorityMinimum', 'versionPriority'],
    { when: (spec) => !isGiven(spec, 'service'), steps: [validateLocal] },
    'service',
    { when: (spec) => isGiven(spec, 'service'), steps: [validateTrust] },
  ],
  'apiregistration/v1.ServiceReference': ['namespace', 'name', validatePort],
  'apiregistration/v1.APIServiceCondition': ['status'],
}

/** The name must be that of the group version. */
export function serviceNames(service: Part): NameCheck {
  const spec = partOf(service, 'spec')
  const required = `${textOf(spec, 'version')}.${textOf(spec, 'group')}`
  return (name) => {
    const problems = checkPathSegment(name)
    return problems.length > 0 || name === required ? problems : [`must be \`spec.version+"."+spec.group\`: ${JSON.stringify(required)}`]
  }
}

function validateGroupVersion(errors: FieldError[], spec: Part): void {
  const [group, version] = [textOf(spec, 'group'), textOf(spec, 'version')]
  if (group !== '') errors.push(...invalidFor('spec.group', group, checkSubdomain(group)))
  else if (version !== 'v1') errors.push(requiredValue('spec.group', 'only v1 may have an empty group and it better be legacy kube'))
  errors.push(...invalidFor('spec.version', version, checkLabel1035(version)))
}

function authorityOf(spec: Part): string {
  return textOf(spec, 'caBundle')
}

/** An APIService that this server serves itself needs no CA bundle. */
function validateLocal(errors: FieldError[], spec: Part): void {
  const authority = authorityOf(spec)
  if (authority !== '') {
    errors.push(invalidValue('spec.caBundle', `${bytesOfBase64(authority)} bytes`, 'local APIServices may not have a caBundle'))
  }
  if (spec['insecureSkipTLSVerify'] === true) {
    errors.push(invalidValue('spec.insecureSkipTLSVerify', true, 'local APIServices may not have insecureSkipTLSVerify'))
  }
}

function validatePort(errors: FieldError[], service: Part, at: string): void {
  const port = typeof service['port'] === 'number' ? service['port'] : 0
  for (const fault of checkPortNumber(port)) errors.push(invalidValue(`${at}.port`, port, `port is not valid: ${fault}`))
}

function validateTrust(errors: FieldError[], spec: Part): void {
  if (spec['insecureSkipTLSVerify'] !== true || authorityOf(spec) === '') return
  errors.push(invalidValue('spec.insecureSkipTLSVerify', true, 'may not be true if caBundle is present'))
}
