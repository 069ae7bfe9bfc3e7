import { readAddress } from '@orch/cel/address'
import {
  canonicalCidr,
  canonicalIp,
  canonicalIpv6,
  cidrFamilyOf,
  hasHostBits,
  hasLeadingZeros,
  isMapped,
} from '../../validation/ip-address.ts'

/** The first level with warnings about addresses. */
const warnedSince = 27

/** The first level whose warning contains the canonical form of an address or range instead of an error of Go's strict parser. */
const usualTextSince = 33

/** The warning about another form of an address or range, in the words of a level. */
function nonStandard(what: string, level: number): string {
  return level < 36 ? `non-standard ${what} will be considered invalid in a future Kubernetes release` : `non-standard ${what} is invalid`
}

/** The warnings about an address that other programs may read differently, or that is not in canonical form. */
export function warningsOfIp(text: string, path: string, level: number): string[] {
  if (level < warnedSince) return []
  if (level < usualTextSince) return formerWarningsOfIp(text, path)
  const canonical = canonicalIp(text)
  if (canonical === undefined || canonical === text) return []
  if (hasLeadingZeros(text) || isMapped(text)) {
    return [`${path}: ${nonStandard(`IP address ${JSON.stringify(text)}`, level)}: use ${JSON.stringify(canonical)}`]
  }
  return [`${path}: IPv6 address ${JSON.stringify(text)} should be in RFC 5952 canonical format (${JSON.stringify(canonical)})`]
}

/** Like `warningsOfIp`, for a range. */
export function warningsOfCidr(text: string, path: string, level: number): string[] {
  if (level < warnedSince) return []
  if (level < usualTextSince) return formerWarningsOfCidr(text, path)
  const [canonical, [address = '', bits = '']] = [canonicalCidr(text), text.split('/')]
  if (canonical === undefined || canonical === text) return []
  const usual = JSON.stringify(canonical)
  const single = JSON.stringify(`${canonicalIp(address)}/${cidrFamilyOf(text) === 'IPv6' && !isMapped(address) ? 128 : 32}`)
  const warnings = hasHostBits(text)
    ? [`${path}: CIDR value ${JSON.stringify(text)} is ambiguous in this context (should be ${usual} or ${single}?)`]
    : []
  if (hasLeadingZeros(address) || /^0\d/.test(bits) || isMapped(address)) {
    warnings.push(`${path}: ${nonStandard(`CIDR value ${JSON.stringify(text)}`, level)}: use ${usual}`)
  }
  if (warnings.length > 0) return warnings
  return [`${path}: IPv6 CIDR value ${JSON.stringify(text)} should be in RFC 5952 canonical format (${usual})`]
}

function formerWarningsOfIp(text: string, path: string): string[] {
  const problem = addressProblem(text)
  if (problem !== undefined) return [`${path}: IP address was accepted, but will be invalid in a future Kubernetes release: ${problem}`]
  const canonical = canonicalIpv6(text)
  if (canonical === undefined || canonical === text) return []
  return [
    `${path}: IPv6 address ${JSON.stringify(text)} is not in RFC 5952 canonical format ("${canonical}"), which may cause controller apply-loops`,
  ]
}

function formerWarningsOfCidr(text: string, path: string): string[] {
  const slash = text.lastIndexOf('/')
  const [address, bits] = [text.slice(0, slash), text.slice(slash + 1)]
  const bitsProblem = /^(?:0|[1-9]\d*)$/.test(bits) ? undefined : `bad bits after slash: ${JSON.stringify(bits)}`
  const problem = addressProblem(address) ?? bitsProblem
  if (problem !== undefined) {
    const said = `netip.ParsePrefix(${JSON.stringify(text)}): ${problem}`
    return [`${path}: IP prefix was accepted, but will be invalid in a future Kubernetes release: ${said}`]
  }
  const canonical = canonicalIpv6(address)
  if (canonical === undefined || canonical === address) return []
  const shown = `${canonical}/${bits}`
  return [
    `${path}: IPv6 prefix ${JSON.stringify(text)} is not in RFC 5952 canonical format ("${shown}"), which may cause controller apply-loops`,
  ]
}

/** The error of Go's strict parser of addresses. */
function addressProblem(text: string): string | undefined {
  const problem = readAddress(text)
  return typeof problem === 'string' ? `ParseAddr(${JSON.stringify(text)}): ${problem}` : undefined
}
