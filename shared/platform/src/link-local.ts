import { lookup } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'

/** True if an address is valid only on this machine's link, such as that of a cloud's metadata service. */
export function isLinkLocal(address: string): boolean {
  const family = isIP(address)
  if (family === 4) return address.startsWith('169.254.')
  return family === 6 && /^(?:fe[89ab][0-9a-f]:|::ffff:(?:169\.254\.|a9fe:))/i.test(address)
}

const local = new BlockList()
local.addAddress('0.0.0.0')
local.addSubnet('127.0.0.0', 8)
local.addSubnet('169.254.0.0', 16)
local.addSubnet('224.0.0.0', 4)
local.addAddress('255.255.255.255')
local.addAddress('::', 'ipv6')
local.addAddress('::1', 'ipv6')
local.addSubnet('fe80::', 10, 'ipv6')
local.addSubnet('ff00::', 8, 'ipv6')

/** False for an address of this machine or its link, and for a multicast address; undefined for a name. */
export function isGlobalUnicast(address: string): boolean | undefined {
  const family = isIP(address)
  return family === 0 ? undefined : !local.check(address, family === 4 ? 'ipv4' : 'ipv6')
}

/** Resolves names like the system, without link-local results: a name must not lead to such an address either. */
export const lookupElsewhere: LookupFunction = lookupWithout(isLinkLocal, 'link-local addresses')

/** Resolves names like the system, without link-local results and addresses of this machine. */
export const lookupGlobal: LookupFunction = lookupWithout(
  (address) => isGlobalUnicast(address) === false,
  'addresses of this machine or its link',
)

function lookupWithout(isRefused: (address: string) => boolean, refused: string): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return callback(error, [])
      const allowed = addresses.filter(({ address }) => !isRefused(address))
      const [first] = allowed
      if (first === undefined) return callback(new Error(`${hostname} has only ${refused}`), [])
      if (options.all) callback(null, allowed)
      else callback(null, first.address, first.family)
    })
  }
}
