import { add, fixed, perElement, scale } from '../estimate/bounds.ts'
import { constantCost, readsOnce } from '../estimate/calls.ts'
import { type CallEstimate, type CallSizes, type Library, memberOverload, overload } from '../library.ts'
import { types } from '../types.ts'
import { kubernetesTypes } from './types.ts'

const { bool, int, string } = types
const { cidr, ip } = kubernetesTypes
const one = { estimate: constantCost(1n) }
const parse = { estimate: readsOnce() }

/** IP addresses. */
export const ips: Library = {
  name: 'ip',
  since: 30,
  types: { 'net.IP': ip },
  functions: {
    ip: [overload('string_to_ip', [string], ip, parse)],
    isIP: [overload('is_ip', [string], bool, parse)],
    'ip.isCanonical': [overload('ip_is_canonical', [string], bool, { estimate: readsOnce(2) })],
    family: [memberOverload('ip_family', [ip], int, one)],
    isUnspecified: [memberOverload('ip_is_unspecified', [ip], bool, one)],
    isLoopback: [memberOverload('ip_is_loopback', [ip], bool, one)],
    isLinkLocalMulticast: [memberOverload('ip_is_link_local_multicast', [ip], bool, one)],
    isLinkLocalUnicast: [memberOverload('ip_is_link_local_unicast', [ip], bool, one)],
    isGlobalUnicast: [memberOverload('ip_is_global_unicast', [ip], bool, one)],
    string: [overload('ip_to_string', [ip], string)],
  },
}

/** Ranges of IP addresses. */
export const cidrs: Library = {
  name: 'cidr',
  since: 30,
  types: { 'net.CIDR': cidr },
  functions: {
    cidr: [overload('string_to_cidr', [string], cidr, parse)],
    isCIDR: [overload('is_cidr', [string], bool, parse)],
    containsIP: [
      memberOverload('cidr_contains_ip_string', [cidr, string], bool, { estimate: containsIp }),
      memberOverload('cidr_contains_ip_ip', [cidr, ip], bool, { estimate: containsIp }),
    ],
    containsCIDR: [
      memberOverload('cidr_contains_cidr_string', [cidr, string], bool, { estimate: containsCidr }),
      memberOverload('cidr_contains_cidr', [cidr, cidr], bool, { estimate: containsCidr }),
    ],
    ip: [memberOverload('cidr_ip', [cidr], ip, one)],
    prefixLength: [memberOverload('cidr_prefix_length', [cidr], int, one)],
    masked: [memberOverload('cidr_masked', [cidr], cidr, one)],
    string: [overload('cidr_to_string', [cidr], string)],
  },
}

/** Octets of an address. */
const octets = { min: 4n, max: 16n }

function containsIp({ args }: CallSizes): CallEstimate {
  const compared = scale(add(octets, octets), perElement)
  return { cost: add(compared, parsed(args[1])) }
}

function containsCidr(call: CallSizes): CallEstimate {
  return { cost: add(add(containsIp(call).cost, scale(octets, perElement)), fixed(1n)) }
}

/** The cost of parsing an argument that is a text. */
function parsed(argument: CallSizes['args'][number] | undefined) {
  return argument?.type.kind === 'string' ? scale(argument.size, perElement) : fixed(0n)
}
