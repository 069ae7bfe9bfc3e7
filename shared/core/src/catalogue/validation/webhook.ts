import type { FieldError } from '../../meta/status.ts'
import { checkLabel1035, checkSubdomain } from '../../meta/validate-names.ts'
import { duplicateValue, invalidFor, invalidTexts, invalidValue, requiredValue, unsupportedValue } from './field-errors.ts'
import { itemsOf, optionalPart, type Part, partOf, textOf } from './part.ts'
import { validateLabelSelector } from './selector.ts'
import { checkPortNumber, validateQualifiedDomain } from './texts.ts'

const reviewVersions = ['v1', 'v1beta1']
const sideEffects = ['None', 'NoneOnDryRun']
const operations = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE']
const scopes = ['*', 'Cluster', 'Namespaced']
const secondsMax = 30

/** The rules of both kinds of webhook configurations. */
export function validateWebhookConfiguration(configuration: Part): FieldError[] {
  const seen = new Set<string>()
  return itemsOf(configuration, 'webhooks').flatMap((webhook, index) => {
    const at = `webhooks[${index}]`
    const name = textOf(webhook, 'name')
    const errors = [
      ...validateWebhook(webhook, at),
      ...validateReviewVersions(itemsOf<string>(webhook, 'admissionReviewVersions'), `${at}.admissionReviewVersions`),
    ]
    if (name !== '' && seen.has(name)) errors.push(duplicateValue(`${at}.name`, name))
    seen.add(name)
    return errors
  })
}

function validateWebhook(webhook: Part, at: string): FieldError[] {
  return [
    ...validateQualifiedDomain(textOf(webhook, 'name'), `${at}.name`),
    ...itemsOf(webhook, 'rules').flatMap((rule, index) => validateRule(rule, `${at}.rules[${index}]`)),
    ...oneOf(webhook, 'failurePolicy', ['Fail', 'Ignore'], at),
    ...oneOf(webhook, 'matchPolicy', ['Equivalent', 'Exact'], at),
    ...validateSideEffects(webhook['sideEffects'], `${at}.sideEffects`),
    ...validateTimeout(webhook['timeoutSeconds'], `${at}.timeoutSeconds`),
    ...validateLabelSelector(optionalPart(webhook, 'namespaceSelector'), `${at}.namespaceSelector`),
    ...validateLabelSelector(optionalPart(webhook, 'objectSelector'), `${at}.objectSelector`),
    ...oneOf(webhook, 'reinvocationPolicy', ['IfNeeded', 'Never'], at),
    ...validateClientConfig(partOf(webhook, 'clientConfig'), `${at}.clientConfig`),
  ]
}

function oneOf(parent: Part, name: string, allowed: readonly string[], at: string): FieldError[] {
  const value = parent[name]
  return typeof value !== 'string' || allowed.includes(value) ? [] : [unsupportedValue(`${at}.${name}`, value, allowed)]
}

function validateSideEffects(value: unknown, field: string): FieldError[] {
  if (typeof value !== 'string') return [requiredValue(field, `must specify one of ${sideEffects.join(', ')}`)]
  return sideEffects.includes(value) ? [] : [unsupportedValue(field, value, sideEffects)]
}

function validateTimeout(seconds: unknown, field: string): FieldError[] {
  if (typeof seconds !== 'number' || (seconds >= 1 && seconds <= secondsMax)) return []
  return [invalidValue(field, seconds, `the timeout value must be between 1 and ${secondsMax} seconds`)]
}

function validateRule(rule: Part, at: string): FieldError[] {
  const groups = itemsOf<string>(rule, 'apiGroups')
  const versions = itemsOf<string>(rule, 'apiVersions')
  const given = itemsOf<string>(rule, 'operations')
  return [
    ...validateWithWildcard(given, `${at}.operations`, 'operations'),
    ...given.flatMap((operation, index) =>
      operations.includes(operation) ? [] : [unsupportedValue(`${at}.operations[${index}]`, operation, operations)],
    ),
    ...validateWithWildcard(groups, `${at}.apiGroups`, 'API groups'),
    ...validateWithWildcard(versions, `${at}.apiVersions`, 'API versions'),
    ...versions.flatMap((version, index) => (version === '' ? [requiredValue(`${at}.apiVersions[${index}]`)] : [])),
    ...validateResources(itemsOf<string>(rule, 'resources'), `${at}.resources`),
    ...oneOf(rule, 'scope', scopes, at),
  ]
}

/** `*` stands for everything, so nothing may stand beside it. */
function validateWithWildcard(list: readonly string[], field: string, what: string): FieldError[] {
  if (list.length === 0) return [requiredValue(field)]
  return list.length > 1 && list.includes('*') ? [invalidTexts(field, list, `if '*' is present, must not specify other ${what}`)] : []
}

function validateResources(resources: readonly string[], field: string): FieldError[] {
  if (resources.length === 0) return [requiredValue(field)]
  const errors: FieldError[] = []
  const wholeResources = new Set<string>()
  const wholeSubresources = new Set<string>()
  for (const [index, text] of resources.entries()) {
    if (text === '') errors.push(requiredValue(`${field}[${index}]`))
    const slash = text.indexOf('/')
    if (slash === -1) continue
    const [resource, subresource] = [text.slice(0, slash), text.slice(slash + 1)]
    const refuse = (wildcard: string): number =>
      errors.push(invalidValue(`${field}[${index}]`, text, `if '${wildcard}' is present, must not specify ${text}`))
    if (wholeResources.has(resource)) refuse(`${resource}/*`)
    if (wholeSubresources.has(subresource)) refuse(`*/${subresource}`)
    if (subresource === '*') wholeResources.add(resource)
    if (resource === '*') wholeSubresources.add(subresource)
  }
  if (resources.length > 1 && resources.includes('*/*')) {
    errors.push(invalidTexts(field, resources, "if '*/*' is present, must not specify other resources"))
  }
  if (resources.includes('*') && resources.some((text) => text !== '' && text !== '*' && !text.includes('/'))) {
    errors.push(invalidTexts(field, resources, "if '*' is present, must not specify other resources without subresources"))
  }
  return errors
}

function validateReviewVersions(versions: readonly string[], field: string): FieldError[] {
  const known = reviewVersions.join(', ')
  if (versions.length === 0) return [requiredValue(field, `must specify one of ${known}`)]
  const errors = versions.flatMap((version, index) =>
    versions.indexOf(version) < index
      ? [duplicateValue(`${field}[${index}]`, version)]
      : invalidFor(`${field}[${index}]`, version, checkLabel1035(version)),
  )
  if (!versions.some((version) => reviewVersions.includes(version))) {
    errors.push(invalidTexts(field, versions, `must include at least one of ${known}`))
  }
  return errors
}

function validateClientConfig(config: Part, at: string): FieldError[] {
  const service = optionalPart(config, 'service')
  const url = config['url']
  if ((typeof url === 'string') === (service !== undefined)) return [requiredValue(at, 'exactly one of url or service is required')]
  return service === undefined ? validateUrl(String(url), `${at}.url`) : validateWebhookService(service, `${at}.service`)
}

const urlPattern = /^(?:([A-Za-z][-A-Za-z0-9+.]*):)?(?:\/\/(?:([^/?#@]*)@)?([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/

/** Where a webhook outside of the cluster is called. */
export function validateUrl(url: string, field: string): FieldError[] {
  const form = '; desired format: https://host[/path]'
  const [, scheme = '', user, host = '', , query = '', fragment = ''] = urlPattern.exec(url) ?? []
  const errors: FieldError[] = []
  if (scheme.toLowerCase() !== 'https') errors.push(invalidValue(field, scheme, `'https' is the only allowed URL scheme${form}`))
  if (host === '') errors.push(invalidValue(field, host, `host must be specified${form}`))
  if (user !== undefined) errors.push(invalidValue(field, user, 'user information is not permitted in the URL'))
  if (fragment !== '') errors.push(invalidValue(field, fragment, 'fragments are not permitted in the URL'))
  if (query !== '') errors.push(invalidValue(field, query, 'query parameters are not permitted in the URL'))
  return errors
}

/** The service that is called, in webhook configurations and conversions. */
export function validateWebhookService(service: Part, at: string): FieldError[] {
  const errors: FieldError[] = []
  if (textOf(service, 'name') === '') errors.push(requiredValue(`${at}.name`, 'service name is required'))
  if (textOf(service, 'namespace') === '') errors.push(requiredValue(`${at}.namespace`, 'service namespace is required'))
  const port = service['port'] === undefined ? 443 : Number(service['port'])
  for (const problem of checkPortNumber(port)) errors.push(invalidValue(`${at}.port`, port, `port is not valid: ${problem}`))
  return [...errors, ...validateServicePath(textOf(service, 'path'), `${at}.path`)]
}

function validateServicePath(path: string, field: string): FieldError[] {
  if (path === '' || path === '/') return []
  if (path === '//') return [invalidValue(field, path, 'segment[0] may not be empty')]
  const errors = path.startsWith('/') ? [] : [invalidValue(field, path, "must start with a '/'")]
  const segments = path.slice(1).replace(/\/$/, '').split('/')
  for (const [index, segment] of segments.entries()) {
    if (segment === '') errors.push(invalidValue(field, path, `segment[${index}] may not be empty`))
    else for (const problem of checkSubdomain(segment)) errors.push(invalidValue(field, path, `segment[${index}]: ${problem}`))
  }
  return errors
}
