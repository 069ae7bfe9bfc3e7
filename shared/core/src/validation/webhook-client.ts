import { checkSubdomain, type FieldError, textSince } from '../meta/index.ts'
import { invalidValue, requiredValue, requiredValueUntil } from './field-errors.ts'
import { optionalPart, type Part, textOf } from './part.ts'
import { checkPortNumber } from './texts.ts'

/** Validates the address of a webhook: a URL or a service. */
export function validateClientConfig(config: Part, at: string): FieldError[] {
  const service = optionalPart(config, 'service')
  const url = config['url']
  if ((typeof url === 'string') === (service !== undefined)) return [requiredValue(at, 'exactly one of url or service is required')]
  return service === undefined ? validateUrl(String(url), `${at}.url`) : validateWebhookService(service, `${at}.service`)
}

const urlPattern = /^(?:([A-Za-z][-A-Za-z0-9+.]*):)?(?:\/\/(?:([^/?#@]*)@)?([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/

const form = '; desired format: https://host[/path]'
const noHost = textSince(26, { before: `host must be provided${form}`, after: `host must be specified${form}` })

/** The URL of a webhook outside the cluster. */
function validateUrl(url: string, field: string): FieldError[] {
  const malformed = findUrlProblem(url)
  if (malformed !== undefined) return [requiredValue(field, `url must be a valid URL: ${malformed}${form}`)]
  const [, givenScheme = '', user, host = '', , query = '', fragment = ''] = urlPattern.exec(url) ?? []
  const scheme = givenScheme.toLowerCase()
  const errors: FieldError[] = []
  if (scheme !== 'https') errors.push(invalidValue(field, scheme, `'https' is the only allowed URL scheme${form}`))
  if (host === '') errors.push(invalidValue(field, host, noHost))
  if (user !== undefined) errors.push(invalidValue(field, user, 'user information is not permitted in the URL'))
  if (fragment !== '') errors.push(invalidValue(field, fragment, 'fragments are not permitted in the URL'))
  if (query !== '') errors.push(invalidValue(field, query, 'query parameters are not permitted in the URL'))
  return errors
}

/** The error of an invalid URL, in Go's words; undefined if it is valid. */
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

/** Validates the service of a webhook configuration or conversion. */
function validateWebhookService(service: Part, at: string): FieldError[] {
  const errors: FieldError[] = []
  if (textOf(service, 'name') === '') errors.push(requiredValueUntil(33, `${at}.name`, 'service name is required'))
  if (textOf(service, 'namespace') === '') errors.push(requiredValueUntil(33, `${at}.namespace`, 'service namespace is required'))
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
