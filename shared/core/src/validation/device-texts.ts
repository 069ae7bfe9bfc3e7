import { explain } from '@orch/cel/name-formats'
import { checkLabel, checkSubdomain, type FieldError, type LevelText, textSince } from '../meta/index.ts'
import { invalidFor, invalidValue, partErrorsMax, requiredValue, tooLongValue } from './field-errors.ts'
import { canonicalIpv6, parseIp } from './ip-address.ts'

/** The first level with separate messages for the formats of declarative rules. */
export const declaredSince = 36

const domainBytesMax = 63
const identifierBytesMax = 32
const poolBytesMax = 253

const label = '[a-z0-9]([-a-z0-9]*[a-z0-9])?'
const wrongCaseless = explain(
  "an RFC 1123 subdomain must consist of alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
  ['Example.com'],
  `${label}(\\.${label})*`,
)

/** Names of drivers are DNS subdomains in any case. */
export function checkDriverName(name: string): readonly string[] {
  return checkSubdomain(name.toLowerCase())
}

/** Like `checkDriverName`, with the message of the declarative format at levels that have it. */
export function checkCaselessDriverName(name: string): readonly LevelText[] {
  return checkDriverName(name).map((problem) => {
    const after = problem.startsWith('must be') ? inBytes(problem) : wrongCaseless
    return textSince(declaredSince, { before: problem, after })
  })
}

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** A UUID in lower case. */
export function checkUuid(text: string): readonly string[] {
  return uuidPattern.test(text) ? [] : ['must be a lowercase UUID in 8-4-4-4-12 format']
}

/** An address with a prefix length in canonical form: `10.9.8.7/24`. */
export function checkInterfaceAddress(text: string): readonly string[] {
  const [address = '', bits = '', ...rest] = text.split('/')
  const bytes = parseIp(address)
  if (bytes === undefined || rest.length > 0 || !/^\d{1,3}$/.test(bits) || Number(bits) > bytes.length * 8)
    return ['must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)']
  const ipv6 = bytes.length === 4 ? undefined : canonicalIpv6(address)
  // An IPv4-mapped address is shown as IPv4.
  const isMapped = ipv6?.startsWith('::ffff:') && ipv6.includes('.')
  const shown = ipv6 === undefined ? bytes.join('.') : isMapped ? ipv6.slice('::ffff:'.length) : ipv6
  const size = isMapped && Number(bits) > 32 ? Number(bits) - 96 : Number(bits)
  return text === `${shown}/${size}` ? [] : [`must be in canonical form ("${shown}/${size}")`]
}

/** The name of a pool: DNS subdomains separated by slashes. */
export function validatePoolName(name: string, field: string): FieldError[] {
  if (name === '') return [requiredValue(field)]
  const errors = name.length > poolBytesMax ? [tooLongValue(field, poolBytesMax)] : []
  for (const part of new Set(name.split('/'))) {
    if (errors.length > partErrorsMax) break
    errors.push(...invalidFor(field, part, checkSubdomain(part)))
  }
  return errors
}

/** Like `validatePoolName`, with the errors of the declarative rule. */
export function validateDeclaredPoolName(name: string, field: string): FieldError[] {
  if (name === '') return [requiredValue(field)]
  const errors = name.length > poolBytesMax ? [tooLongValue(field, poolBytesMax)] : []
  for (const [index, part] of name.split('/').entries()) {
    if (errors.length > partErrorsMax) break
    const found = part === '' ? ['must not be empty'] : declaredSubdomain(part)
    errors.push(...found.map((problem) => invalidValue(field, part === '' ? name : part, `segment ${index}: ${problem}`)))
  }
  return errors
}

const identifierPattern = /^[A-Za-z_][A-Za-z0-9_]*$/
const wrongIdentifier = explain(
  "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_'",
  ['my_name', 'MY_NAME', 'MyName'],
  '[A-Za-z_][A-Za-z0-9_]*',
)

function validateIdentifier(name: string, field: string): FieldError[] {
  const errors = name.length > identifierBytesMax ? [tooLongValue(field, identifierBytesMax)] : []
  return identifierPattern.test(name) ? errors : [...errors, invalidValue(field, name, wrongIdentifier)]
}

/** The name of an attribute or capacity, with or without a domain. Like kube-apiserver, ignores names with several slashes. */
export function validateDeviceQualifiedName(text: string, field: string): FieldError[] {
  const parts = text.split('/')
  const [first = '', second = ''] = parts
  if (parts.length === 1) return validateIdentifier(first, field)
  if (parts.length > 2) return []
  const ofDomain = first === '' ? [invalidValue(field, '', 'the domain must not be empty')] : validateDriverName(first, field)
  const ofName = second === '' ? [invalidValue(field, '', 'the name must not be empty')] : validateIdentifier(second, field)
  return [...ofDomain, ...ofName]
}

/** Validates a driver's name that has no facet. */
function validateDriverName(name: string, field: string): FieldError[] {
  const errors = name.length > domainBytesMax ? [tooLongValue(field, domainBytesMax)] : []
  return [...errors, ...invalidFor(field, name, checkDriverName(name))]
}

const domainMissing = textSince(35, {
  before: 'must include a domain',
  after: 'a fully qualified name must be a domain and a name separated by a slash',
})

/** Validates an attribute's name with its domain, by the old or the declarative rule. */
export function validateFullName(text: string, field: string, isDeclared: boolean): FieldError[] {
  const errors = isDeclared ? declaredQualifiedName(text, field) : validateDeviceQualifiedName(text, field)
  if (text.includes('/')) return errors
  return [...errors, ...invalidFor(field, text, [domainMissing])]
}

function declaredQualifiedName(text: string, field: string): FieldError[] {
  const parts = text.split('/')
  const [first = '', second = ''] = parts
  if (parts.length === 1) return validateIdentifier(first, field)
  if (parts.length > 2) return []
  const errors: FieldError[] = []
  if (first === '') errors.push(invalidValue(field, '', 'prefix must not be empty'))
  else {
    if (first.length > domainBytesMax) errors.push(tooLongValue(field, domainBytesMax))
    errors.push(
      ...invalidFor(
        field,
        first,
        declaredSubdomain(first).map((problem) => `prefix: ${problem}`),
      ),
    )
  }
  if (second === '') errors.push(invalidValue(field, '', 'name must not be empty'))
  else errors.push(...validateIdentifier(second, field))
  return errors
}

function inBytes(problem: string): string {
  return problem.replace(/ characters$/, ' bytes')
}

/** Declarative rules count the bytes of a name. */
function declaredSubdomain(name: string): readonly string[] {
  return checkSubdomain(name).map(inBytes)
}

/** Names of counters must be labels; the error names the map. */
export function validateCounterName(name: string, field: string): FieldError[] {
  return invalidFor(field, name, checkLabel(name))
}
