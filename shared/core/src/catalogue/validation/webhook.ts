import type { FieldError } from '../../meta/status.ts'
import { checkLabel1035, checkSubdomain } from '../../meta/validate-names.ts'
import { duplicateValue, invalidFor, invalidTexts, invalidValue, requiredValue, unsupportedValue } from './field-errors.ts'
import { validateMatchConditions } from './match-conditions.ts'
import { itemsOf, optionalPart, type Part, partOf, repeatedPlaces, textOf } from './part.ts'
import { validateLabelSelector } from './selector.ts'
import { checkPortNumber, validateQualifiedDomain } from './texts.ts'

const reviewVersions = ['v1', 'v1beta1']
const sideEffects = ['None', 'NoneOnDryRun']
/** What configurations of before v1 may still say. */
const formerSideEffects = ['None', 'NoneOnDryRun', 'Some', 'Unknown']
const operations = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE']
const scopes = ['*', 'Cluster', 'Namespaced']
const secondsMax = 30

/** What a configuration that is stored already may go on to say, so that it can still be changed elsewhere. */
interface Tolerance {
  readonly sideEffects: boolean
  readonly reviewVersions: boolean
  readonly sameNames: boolean
}

/** The rules of both kinds of webhook configurations; `live` may be of a time when there were fewer. */
export function validateWebhookConfiguration(configuration: Part, live?: Part): FieldError[] {
  const stored = live === undefined ? [] : itemsOf(live, 'webhooks')
  const tolerated = toleranceFor(stored)
  const conditions = new Set(stored.flatMap((webhook) => itemsOf(webhook, 'matchConditions').map((one) => textOf(one, 'expression'))))
  const seen = new Set<string>()
  return itemsOf(configuration, 'webhooks').flatMap((webhook, index) => {
    const at = `webhooks[${index}]`
    const name = textOf(webhook, 'name')
    const errors = [
      ...validateWebhook(webhook, at, tolerated),
      ...validateReviewVersions(itemsOf<string>(webhook, 'admissionReviewVersions'), `${at}.admissionReviewVersions`, tolerated),
      ...validateMatchConditions(webhook, `${at}.matchConditions`, { hasParams: false, stored: conditions }),
    ]
    if (!tolerated.sameNames && name !== '' && seen.has(name)) errors.push(duplicateValue(`${at}.name`, name))
    seen.add(name)
    return errors
  })
}

function toleranceFor(stored: readonly Part[]): Tolerance {
  const names = stored.map((webhook) => textOf(webhook, 'name')).filter((name) => name !== '')
  return {
    sideEffects: stored.some((webhook) => !sideEffects.includes(textOf(webhook, 'sideEffects'))),
    reviewVersions: stored.some((webhook) => !itemsOf<string>(webhook, 'admissionReviewVersions').some(isKnownVersion)),
    sameNames: new Set(names).size < names.length,
  }
}

function isKnownVersion(version: string): boolean {
  return reviewVersions.includes(version)
}

function validateWebhook(webhook: Part, at: string, tolerated: Tolerance): FieldError[] {
  return [
    ...validateQualifiedDomain(textOf(webhook, 'name'), `${at}.name`),
    ...itemsOf(webhook, 'rules').flatMap((rule, index) => validateAdmissionRule(rule, `${at}.rules[${index}]`)),
    ...oneOf(webhook, 'failurePolicy', ['Fail', 'Ignore'], at),
    ...oneOf(webhook, 'matchPolicy', ['Equivalent', 'Exact'], at),
    ...validateSideEffects(webhook['sideEffects'], `${at}.sideEffects`, tolerated.sideEffects ? formerSideEffects : sideEffects),
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

function validateSideEffects(value: unknown, field: string, known: readonly string[]): FieldError[] {
  if (typeof value !== 'string') return [requiredValue(field, `must specify one of ${known.join(', ')}`)]
  return known.includes(value) ? [] : [unsupportedValue(field, value, known)]
}

function validateTimeout(seconds: unknown, field: string): FieldError[] {
  if (typeof seconds !== 'number' || (seconds >= 1 && seconds <= secondsMax)) return []
  return [invalidValue(field, seconds, `the timeout value must be between 1 and ${secondsMax} seconds`)]
}

/** Operations, groups, versions, resources and scope of a rule. */
export function validateAdmissionRule(rule: Part, at: string): FieldError[] {
  const groups = itemsOf<string>(rule, 'apiGroups')
  const versions = itemsOf<string>(rule, 'apiVersions')
  const given = itemsOf<string>(rule, 'operations')
  return [
    ...validateWithWildcard(given, `${at}.operations`, 'operations', '[]admissionregistration.OperationType'),
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
function validateWithWildcard(list: readonly string[], field: string, what: string, type?: string): FieldError[] {
  if (list.length === 0) return [requiredValue(field)]
  const isTooMuch = list.length > 1 && list.includes('*')
  return isTooMuch ? [invalidTexts(field, list, `if '*' is present, must not specify other ${what}`, type)] : []
}

function validateResources(resources: readonly string[], field: string): FieldError[] {
  if (resources.length === 0) return [requiredValue(field)]
  const errors: FieldError[] = []
  const wholeResources = new Set<string>()
  const wholeSubresources = new Set<string>()
  let isLastWhole = false
  for (const [index, text] of resources.entries()) {
    if (text === '') errors.push(requiredValue(`${field}[${index}]`))
    const slash = text.indexOf('/')
    if (slash === -1) {
      if (text !== '') isLastWhole = text !== '*'
      continue
    }
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
  // As in kube-apiserver, `*` may follow whole resources, but not precede them.
  if (resources.includes('*') && isLastWhole) {
    errors.push(invalidTexts(field, resources, "if '*' is present, must not specify other resources without subresources"))
  }
  return errors
}

function validateReviewVersions(versions: readonly string[], field: string, tolerated: Tolerance): FieldError[] {
  const known = reviewVersions.join(', ')
  if (versions.length === 0) return [requiredValue(field, `must specify one of ${known}`)]
  const repeated = repeatedPlaces(versions)
  const errors = versions.flatMap((version, index) =>
    repeated.has(index)
      ? [invalidValue(`${field}[${index}]`, version, 'duplicate version')]
      : invalidFor(`${field}[${index}]`, version, checkLabel1035(version)),
  )
  if (!tolerated.reviewVersions && !versions.some(isKnownVersion)) {
    errors.push(invalidTexts(field, versions, `must include at least one of ${known}`))
  }
  return errors
}

/** How a webhook is called: by address or by service. */
export function validateClientConfig(config: Part, at: string): FieldError[] {
  const service = optionalPart(config, 'service')
  const url = config['url']
  if ((typeof url === 'string') === (service !== undefined)) return [requiredValue(at, 'exactly one of url or service is required')]
  return service === undefined ? validateUrl(String(url), `${at}.url`) : validateWebhookService(service, `${at}.service`)
}

const urlPattern = /^(?:([A-Za-z][-A-Za-z0-9+.]*):)?(?:\/\/(?:([^/?#@]*)@)?([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/

/** Where a webhook outside of the cluster is called. */
function validateUrl(url: string, field: string): FieldError[] {
  const form = '; desired format: https://host[/path]'
  const malformed = findUrlProblem(url)
  if (malformed !== undefined) return [requiredValue(field, `url must be a valid URL: ${malformed}${form}`)]
  const [, givenScheme = '', user, host = '', , query = '', fragment = ''] = urlPattern.exec(url) ?? []
  const scheme = givenScheme.toLowerCase()
  const errors: FieldError[] = []
  if (scheme !== 'https') errors.push(invalidValue(field, scheme, `'https' is the only allowed URL scheme${form}`))
  if (host === '') errors.push(invalidValue(field, host, `host must be provided${form}`))
  if (user !== undefined) errors.push(invalidValue(field, user, 'user information is not permitted in the URL'))
  if (fragment !== '') errors.push(invalidValue(field, fragment, 'fragments are not permitted in the URL'))
  if (query !== '') errors.push(invalidValue(field, query, 'query parameters are not permitted in the URL'))
  return errors
}

/** Why a text is no URL at all, in the words that clients know; undefined: it is one. */
function findUrlProblem(url: string): string | undefined {
  const [whole = ''] = url.split('#')
  const why = (reason: string): string => `parse ${JSON.stringify(whole)}: ${reason}`
  if (/[\u0000-\u001f\u007f]/.test(url)) return why('net/url: invalid control character in URL')
  if (whole.startsWith(':')) return why('missing protocol scheme')
  const [, , , host = '', path = ''] = urlPattern.exec(url) ?? []
  const problem = findHostProblem(host) ?? findEscapeProblem(path)
  return problem === undefined ? undefined : why(problem)
}

function findHostProblem(host: string): string | undefined {
  const bracket = host.lastIndexOf(']')
  if (host.startsWith('[') && bracket < 0) return "missing ']' in host"
  const colon = host.startsWith('[') ? bracket + 1 : host.lastIndexOf(':')
  const port = colon < 0 ? '' : host.slice(colon)
  if (!/^(?::\d*)?$/.test(port)) return `invalid port ${JSON.stringify(port)} after host`
  const malformed = findEscapeProblem(host)
  if (malformed !== undefined) return malformed
  const stranger = /[^\w.~!$&'()*+,;=:[\]<>"%\u0080-\uffff-]/.exec(host)
  return stranger === null ? undefined : `invalid character ${JSON.stringify(stranger[0])} in host name`
}

function findEscapeProblem(text: string): string | undefined {
  const wrong = /%(?![0-9A-Fa-f]{2}).{0,2}/.exec(text)
  return wrong === null ? undefined : `invalid URL escape ${JSON.stringify(wrong[0])}`
}

/** The service that is called, in webhook configurations and conversions. */
function validateWebhookService(service: Part, at: string): FieldError[] {
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
