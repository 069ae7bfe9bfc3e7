import { printAddress, readAddress } from '@orch/cel/address'
import type { FieldError } from '../meta/status.ts'
import { invalidValue } from './field-errors.ts'

/** An address as four or sixteen bytes. */
export type IpAddress = readonly number[]

export type IpFamily = 'IPv4' | 'IPv6'

/** Parses an address. Leading zeros in IPv4 are tolerated, for compatibility. */
export function parseIp(text: string): IpAddress | undefined {
  const octets = readAddress(text.includes('.') ? text.replace(/(?<=^|[.:])0+(?=\d+(?:\.|$))/g, '') : text)
  return typeof octets === 'string' ? undefined : octets
}

/** The family in which a text is written. */
export function ipFamilyOf(text: string): IpFamily | undefined {
  const address = parseIp(text)
  if (address === undefined) return undefined
  return isIpv4(address) ? 'IPv4' : 'IPv6'
}

/** The RFC 5952 form of an IPv6 address; undefined for other texts. */
export function canonicalIpv6(text: string): string | undefined {
  const bytes = text.includes(':') ? parseIp(text) : undefined
  return bytes !== undefined && isIpv4(bytes) ? `::ffff:${printAddress(bytes.slice(-4))}` : bytes && printAddress(bytes)
}

/** The canonical form of an address: dotted decimal or RFC 5952; undefined for an invalid address. */
export function canonicalIp(text: string): string | undefined {
  const bytes = parseIp(text)
  if (bytes === undefined) return undefined
  return printAddress(isIpv4(bytes) ? bytes.slice(-4) : bytes)
}

/** The canonical form of a range, with zero host bits; undefined for an invalid range. */
export function canonicalCidr(text: string): string | undefined {
  if (cidrFamilyOf(text) === undefined) return undefined
  const [address = '', length = ''] = text.split('/')
  const written = parseIp(address) ?? []
  const bytes = isIpv4(written) ? written.slice(-4) : written
  const bits = Number(length) - 8 * (written.length - bytes.length)
  const network = bytes.map((byte, index) => byte & (0xff << Math.min(8, Math.max(0, 8 * (index + 1) - bits))))
  return `${printAddress(network)}/${bits}`
}

/** The family of a range, such as `10.0.0.0/16` or `fd00::/64`. */
export function cidrFamilyOf(text: string): IpFamily | undefined {
  const [address = '', bits = '', ...rest] = text.split('/')
  if (rest.length > 0 || !/^\d{1,3}$/.test(bits)) return undefined
  const parsed = parseIp(address)
  if (parsed === undefined || Number(bits) > parsed.length * 8) return undefined
  return address.includes(':') ? 'IPv6' : 'IPv4'
}

/** The errors of a text that should be an address. */
function checkIp(text: string): readonly string[] {
  return parseIp(text) === undefined ? ['must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'] : []
}

/** The check of addresses in fields that existed before the strict rules. */
export interface LegacyAddresses {
  /** True to refuse texts that programs read differently: leading zeros, IPv4-mapped IPv6 addresses, host bits in a range. */
  readonly isStrict: boolean
  /** Texts of the replaced object, which stay valid. */
  readonly kept?: ReadonlySet<string>
}

/** The errors of an address in such a field. */
export function validateLegacyIp(text: string, field: string, { isStrict, kept }: LegacyAddresses): FieldError[] {
  if (kept?.has(text)) return []
  const problems = checkIp(text)
  if (problems.length > 0 || !isStrict) return problems.map((problem) => invalidValue(field, text, problem))
  return strictProblemsOfIp(text).map((problem) => invalidValue(field, text, problem))
}

function strictProblemsOfIp(text: string): readonly string[] {
  if (hasLeadingZeros(text)) return ['must not have leading 0s']
  return isMapped(text) ? ['must not be an IPv4-mapped IPv6 address'] : []
}

/** The errors of a range in such a field. */
export function validateLegacyCidr(text: string, field: string, { isStrict, kept }: LegacyAddresses): FieldError[] {
  const problems = kept?.has(text) ? [] : problemsOfCidr(text, isStrict)
  return problems.map((problem) => invalidValue(field, text, problem))
}

function problemsOfCidr(text: string, isStrict: boolean): readonly string[] {
  if (cidrFamilyOf(text) === undefined) return ['must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)']
  if (!isStrict) return []
  const [address = '', bits = ''] = text.split('/')
  if (hasLeadingZeros(address) || /^0\d/.test(bits)) return ['must not have leading 0s in IP or prefix length']
  if (isMapped(address)) return ['must not have an IPv4-mapped IPv6 address']
  return hasHostBits(text) ? ['must not have bits set beyond the prefix length'] : []
}

/** The errors of an address that must be in canonical form. */
export function checkCanonicalIp(text: string): readonly string[] {
  const problems = [...checkIp(text), ...strictProblemsOfIp(text)]
  const canonical = canonicalIp(text)
  return problems.length > 0 || canonical === text ? problems : [`must be in canonical form ("${canonical}")`]
}

/** The errors of a range that must be in canonical form. */
export function checkCanonicalCidr(text: string): readonly string[] {
  const problems = problemsOfCidr(text, true)
  const canonical = canonicalCidr(text)
  return problems.length > 0 || canonical === text ? problems : [`must be in canonical form ("${canonical}")`]
}

/** True if an IPv4 address has leading zeros, which some programs read as octal. */
export function hasLeadingZeros(text: string): boolean {
  return text.includes('.') && /(?:^|[.:])0\d+(?=\.|$)/.test(text)
}

/** True for an IPv4-mapped IPv6 address. */
export function isMapped(text: string): boolean {
  return text.includes(':') && isIpv4(parseIp(text) ?? [])
}

/** True if a range has host bits. */
export function hasHostBits(text: string): boolean {
  const [network] = (canonicalCidr(text) ?? '').split('/')
  return network !== canonicalIp(text.split('/')[0] ?? '')
}

/** The first level whose message about an unspecified address shows it as written. */
const givenSince = 33

/** Refuses addresses that never identify another machine. */
export function validateOrdinaryIp(text: string, field: string, level: number): FieldError[] {
  const address = parseIp(text)
  if (address === undefined) return [invalidValue(field, text, 'must be a valid IP address')]
  const refuse = (detail: string): FieldError[] => [invalidValue(field, text, detail)]
  const bytes = isIpv4(address) ? address.slice(-4) : address
  const [first = 0, second = 0, third = 0] = bytes
  const isShort = bytes.length === 4
  if (bytes.every((byte) => byte === 0)) return refuse(`may not be unspecified (${level < givenSince ? '0.0.0.0 or ::' : text})`)
  const isLoopback = isShort ? first === 127 : bytes.slice(0, 15).every((byte) => byte === 0) && bytes[15] === 1
  if (isLoopback) return refuse('may not be in the loopback range (127.0.0.0/8, ::1/128)')
  const isLocal = isShort ? first === 169 && second === 254 : first === 0xfe && (second & 0xc0) === 0x80
  if (isLocal) return refuse('may not be in the link-local range (169.254.0.0/16, fe80::/10)')
  const isMulticast = isShort ? first === 224 && second === 0 && third === 0 : first === 0xff && (second & 0x0f) === 0x02
  return isMulticast ? refuse('may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)') : []
}

/** True for four bytes, or for sixteen bytes that map an IPv4 address. */
function isIpv4(address: IpAddress): boolean {
  if (address.length === 4) return true
  return address.length === 16 && address.slice(0, 10).every((byte) => byte === 0) && address[10] === 0xff && address[11] === 0xff
}
