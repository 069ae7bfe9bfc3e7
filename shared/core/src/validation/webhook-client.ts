import { readUrl } from '@orch/cel/url'
import { checkSubdomain, type FieldError, textSince } from '../meta/index.ts'
import { invalidValue, partErrorsMax, requiredValue, requiredValueUntil } from './field-errors.ts'
import { optionalPart, type Part, textOf } from './part.ts'
import { checkPortNumber } from './texts.ts'

/** Validates the address of a webhook: a URL or a service. */
export function validateClientConfig(config: Part, at: string): FieldError[] {
  const service = optionalPart(config, 'service')
  const url = config['url']
  if ((typeof url === 'string') === (service !== undefined)) return [requiredValue(at, 'exactly one of url or service is required')]
  return service === undefined ? validateUrl(String(url), `${at}.url`) : validateWebhookService(service, `${at}.service`)
}

const form = '; desired format: https://host[/path]'
const noHost = textSince(26, { before: `host must be provided${form}`, after: `host must be specified${form}` })

/** The URL of a webhook outside the cluster. */
function validateUrl(url: string, field: string): FieldError[] {
  const read = readUrl(url)
  if (typeof read === 'string') return [requiredValue(field, `url must be a valid URL: ${read}${form}`)]
  const { scheme, user, host, query, fragment = '' } = read
  const errors: FieldError[] = []
  if (scheme !== 'https') errors.push(invalidValue(field, scheme, `'https' is the only allowed URL scheme${form}`))
  if (host === '') errors.push(invalidValue(field, host, noHost))
  if (user !== undefined) errors.push(invalidValue(field, user, 'user information is not permitted in the URL'))
  if (fragment !== '') errors.push(invalidValue(field, fragment, 'fragments are not permitted in the URL'))
  if (query !== '') errors.push(invalidValue(field, query, 'query parameters are not permitted in the URL'))
  return errors
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
    if (errors.length > partErrorsMax) break
    if (segment === '') errors.push(invalidValue(field, path, `segment[${index}] may not be empty`))
    else for (const problem of checkSubdomain(segment)) errors.push(invalidValue(field, path, `segment[${index}]: ${problem}`))
  }
  return errors
}
