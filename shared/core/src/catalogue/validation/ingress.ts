import { explain } from '@orch/cel/name-formats'
import { field, needed, noTag, pointer } from '../../description/fields.ts'
import { string, text } from '../../description/texts.ts'
import { list, ref } from '../../description/values.ts'
import { checkSubdomain, type FieldError, type LevelText } from '../../meta/index.ts'
import { domainLabel } from '../../names.ts'
import { goValue } from '../../schema/go-value.ts'
import { invalidValue, requiredValue, unsupportedValue } from '../../validation/field-errors.ts'
import { ipFamilyOf } from '../../validation/ip-address.ts'
import { itemsOf, type Part, partOf, textOf } from '../../validation/part.ts'
import { as, type RuleContext, type TypeRules, within } from '../../validation/rule-book.ts'
import { checkPortName, checkPortNumber } from '../../validation/texts.ts'
import { allowChecked, isGiven } from './checks.ts'

const requiredName = ['kind', 'name'].map((name) => as(name, needed(text('pathSegment'), noTag, { needed: `${name} is required` })))

/** An Ingress. Its class is in a field or in the deprecated annotation. */
export const ingressRules: Readonly<Record<string, TypeRules>> = {
  'networking/v1.Ingress': ['spec', refuseTwoClasses],
  'networking/v1.IngressSpec': [requireRule, 'defaultBackend', 'rules', 'tls', 'ingressClassName'],
  'networking/v1.IngressRule': [validateHost, 'http'],
  'networking/v1.HTTPIngressPath': [
    { decisive: as('pathType', pointer(string(), noTag, { needed: 'pathType must be specified' })) },
    validatePath,
    'backend',
  ],
  'networking/v1.IngressBackend': [
    { decisive: requireOneBackend },
    within('resource', as('apiGroup', field(text('subdomain'), noTag, { pointer: true })), ...requiredName),
    'service',
  ],
  'networking/v1.IngressServiceBackend': ['name', { passedOver: ['port'] }, validateBackendPort],
  'networking/v1.IngressTLS': [validateTlsHosts, 'secretName'],
}

function requireRule(errors: FieldError[], spec: Part, at: string): void {
  if (itemsOf(spec, 'rules').length > 0 || isGiven(spec, 'defaultBackend')) return
  const none = goValue(list(ref('networking/v1.IngressRule')), undefined)
  errors.push(invalidValue(at, none, 'either `defaultBackend` or `rules` must be specified'))
}

/** The first level at which the annotation and the field may both have the class. */
const sameClassSince = 27

function refuseTwoClasses(errors: FieldError[], ingress: Part, _at: string, { live, names, level }: RuleContext): void {
  const annotation = domainLabel(names, 'ingress.class')
  const given = partOf(partOf(ingress, 'metadata'), 'annotations')[annotation]
  const { ingressClassName: name } = partOf(ingress, 'spec')
  if (live !== undefined || given === undefined || name == null) return
  const field = `annotations.${annotation}`
  if (level < sameClassSince) errors.push(invalidValue(field, given, 'can not be set when the class field is also set'))
  else if (given !== name) errors.push(invalidValue(field, given, 'must match `ingressClassName` when both are specified'))
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

function validateHost(errors: FieldError[], rule: Part, at: string): void {
  const host = textOf(rule, 'host')
  if (ipFamilyOf(host) !== undefined) errors.push(invalidValue(`${at}.host`, host, 'must be a DNS name, not an IP address'))
  allowChecked(errors, { part: rule, name: 'host', at }, checkHost)
}

const pathTypes = ['Exact', 'ImplementationSpecific', 'Prefix']
const unwantedParts = ['//', '/./', '/../', '%2f', '%2F']
const unwantedEnds = ['/..', '/.']

function validatePath(errors: FieldError[], entry: Part, at: string): void {
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
}

function requireOneBackend(errors: FieldError[], backend: Part, at: string): void {
  const [isService, isResource] = [isGiven(backend, 'service'), isGiven(backend, 'resource')]
  if (isService && isResource) errors.push(invalidValue(at, '', 'cannot set both resource and service backends'))
  else if (!isService && !isResource) errors.push(invalidValue(at, '', 'resource or service backend is required'))
}

/** Like kube-apiserver, reports a missing port on the backend. */
function validateBackendPort(errors: FieldError[], service: Part, path: string): void {
  const at = path.slice(0, path.lastIndexOf('.'))
  const port = partOf(service, 'port')
  const name = textOf(port, 'name')
  const number = Number(port['number'] ?? 0)
  if (name !== '' && number !== 0) errors.push(invalidValue(at, '', 'cannot set both port name & port number'))
  else if (name !== '') allowChecked(errors, { part: port, name: 'name', at: `${path}.port` }, checkPortName)
  else if (number === 0) errors.push(requiredValue(at, 'port name or number is required'))
  else for (const problem of checkPortNumber(number)) errors.push(invalidValue(`${path}.port.number`, number, problem))
}

function validateTlsHosts(errors: FieldError[], entry: Part, at: string): void {
  for (const [index, host] of itemsOf<string>(entry, 'hosts').entries()) {
    for (const problem of checkHost(host)) errors.push(invalidValue(`${at}.hosts[${index}]`, host, problem))
  }
}
