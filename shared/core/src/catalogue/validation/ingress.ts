import { list, ref } from '../../description/define.ts'
import type { LevelText } from '../../meta/level-text.ts'
import type { FieldError } from '../../meta/status.ts'
import { checkLabel1035, checkSubdomain, explain } from '../../meta/validate-names.ts'
import { domainLabel, type Names } from '../../names.ts'
import { goValue } from '../../schema/go-value.ts'
import { invalidValue, requiredValue, unsupportedValue } from '../../validation/field-errors.ts'
import { ipFamilyOf } from '../../validation/ip-address.ts'
import { itemsOf, optionalPart, type Part, partOf, textOf } from '../../validation/part.ts'
import { checkPortName, checkPortNumber } from '../../validation/texts.ts'
import { allowChecked, checkGiven, isGiven, requireChecked } from './checks.ts'
import { validateTypedReference } from './typed-reference.ts'

/** The rules of an Ingress. The class may be given by a field or, as it once was, by an annotation. */
export function validateIngress(ingress: Part, live: Part | undefined, names: Names): FieldError[] {
  const errors: FieldError[] = []
  const spec = partOf(ingress, 'spec')
  const rules = itemsOf(spec, 'rules')
  const backend = optionalPart(spec, 'defaultBackend')
  if (rules.length === 0 && backend === undefined) {
    errors.push(
      invalidValue(
        'spec',
        goValue(list(ref('networking/v1.IngressRule')), undefined),
        'either `defaultBackend` or `rules` must be specified',
      ),
    )
  }
  if (backend !== undefined) validateBackend(errors, backend, 'spec.defaultBackend')
  for (const [index, rule] of rules.entries()) validateRule(errors, rule, `spec.rules[${index}]`)
  for (const [index, entry] of itemsOf(spec, 'tls').entries()) validateTls(errors, entry, `spec.tls[${index}]`)
  checkGiven(errors, { part: spec, name: 'ingressClassName', at: 'spec' }, checkSubdomain)
  const annotation = domainLabel(names, 'ingress.class')
  const given = partOf(partOf(ingress, 'metadata'), 'annotations')[annotation]
  if (live === undefined && given !== undefined && isGiven(spec, 'ingressClassName')) {
    errors.push(invalidValue(`annotations.${annotation}`, given, 'can not be set when the class field is also set'))
  }
  return errors
}

const wildcardPattern = /^\*\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/
const wrongWildcard = explain(
  "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character",
  ['*.example.com'],
  '\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*',
)
const hostLengthMax = 253

function checkHost(host: string): readonly LevelText[] {
  if (!host.includes('*')) return checkSubdomain(host)
  const problems = host.length > hostLengthMax ? [`must be no more than ${hostLengthMax} characters`] : []
  return wildcardPattern.test(host) ? problems : [...problems, wrongWildcard]
}

function validateRule(errors: FieldError[], rule: Part, at: string): void {
  const host = textOf(rule, 'host')
  if (ipFamilyOf(host) !== undefined) errors.push(invalidValue(`${at}.host`, host, 'must be a DNS name, not an IP address'))
  allowChecked(errors, { part: rule, name: 'host', at }, checkHost)
  const http = optionalPart(rule, 'http')
  if (http === undefined) return
  const paths = itemsOf(http, 'paths')
  if (paths.length === 0) errors.push(requiredValue(`${at}.http.paths`))
  for (const [index, path] of paths.entries()) validatePath(errors, path, `${at}.http.paths[${index}]`)
}

const pathTypes = ['Exact', 'ImplementationSpecific', 'Prefix']
const unwantedParts = ['//', '/./', '/../', '%2f', '%2F']
const unwantedEnds = ['/..', '/.']

function validatePath(errors: FieldError[], entry: Part, at: string): void {
  if (!isGiven(entry, 'pathType')) {
    errors.push(requiredValue(`${at}.pathType`, 'pathType must be specified'))
    return
  }
  const type = textOf(entry, 'pathType')
  const path = textOf(entry, 'path')
  const refuse = (detail: string): void => void errors.push(invalidValue(`${at}.path`, path, detail))
  if (!pathTypes.includes(type)) errors.push(unsupportedValue(`${at}.pathType`, type, pathTypes))
  else if (type === 'ImplementationSpecific') {
    if (path !== '' && !path.startsWith('/')) refuse('must be an absolute path')
  } else {
    if (!path.startsWith('/')) refuse('must be an absolute path')
    for (const part of unwantedParts) if (path.includes(part)) refuse(`must not contain '${part}'`)
    for (const end of unwantedEnds) if (path.endsWith(end)) refuse(`cannot end with '${end}'`)
  }
  validateBackend(errors, partOf(entry, 'backend'), `${at}.backend`)
}

function validateBackend(errors: FieldError[], backend: Part, at: string): void {
  const service = optionalPart(backend, 'service')
  const resource = optionalPart(backend, 'resource')
  if (service !== undefined && resource !== undefined) {
    errors.push(invalidValue(at, '', 'cannot set both resource and service backends'))
  } else if (resource !== undefined) validateTypedReference(errors, resource, `${at}.resource`)
  else if (service !== undefined) validateServiceBackend(errors, service, at)
  else errors.push(invalidValue(at, '', 'resource or service backend is required'))
}

function validateServiceBackend(errors: FieldError[], service: Part, at: string): void {
  requireChecked(errors, { part: service, name: 'name', at: `${at}.service` }, checkLabel1035)
  const port = partOf(service, 'port')
  const name = textOf(port, 'name')
  const number = Number(port['number'] ?? 0)
  if (name !== '' && number !== 0) errors.push(invalidValue(at, '', 'cannot set both port name & port number'))
  else if (name !== '') allowChecked(errors, { part: port, name: 'name', at: `${at}.service.port` }, checkPortName)
  else if (number === 0) errors.push(requiredValue(at, 'port name or number is required'))
  else for (const problem of checkPortNumber(number)) errors.push(invalidValue(`${at}.service.port.number`, number, problem))
}

function validateTls(errors: FieldError[], entry: Part, at: string): void {
  for (const [index, host] of itemsOf<string>(entry, 'hosts').entries()) {
    for (const problem of checkHost(host)) errors.push(invalidValue(`${at}.hosts[${index}]`, host, problem))
  }
  allowChecked(errors, { part: entry, name: 'secretName', at }, checkSubdomain)
}

/** Where an Ingress can be reached. */
export function validateIngressStatus(ingress: Part): FieldError[] {
  const errors: FieldError[] = []
  for (const [index, point] of itemsOf(partOf(partOf(ingress, 'status'), 'loadBalancer'), 'ingress').entries()) {
    const at = `status.loadBalancer.ingress[${index}]`
    const [address, hostname] = [textOf(point, 'ip'), textOf(point, 'hostname')]
    if (address !== '' && ipFamilyOf(address) === undefined) {
      errors.push(invalidValue(`${at}.ip`, address, 'must be a valid IP address'))
    }
    allowChecked(errors, { part: point, name: 'hostname', at }, checkSubdomain)
    if (ipFamilyOf(hostname) !== undefined) {
      errors.push(invalidValue(`${at}.hostname`, hostname, 'must be a DNS name, not an IP address'))
    }
  }
  return errors
}
