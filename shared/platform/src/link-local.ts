import { lookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'

/** True if an address is valid on this machine's link alone, such as that of a cloud's metadata service. */
export function isLinkLocal(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return address.startsWith('169.254.')
    case 6:
      return /^(?:fe[89ab][0-9a-f]:|::ffff:(?:169\.254\.|a9fe:))/i.test(address)
    default:
      return false
  }
}

/** Finds the addresses of a name as the system does, without link-local ones: a name may not lead there either. */
export const lookupElsewhere: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error !== null) return callback(error, [])
    const allowed = addresses.filter(({ address }) => !isLinkLocal(address))
    const [first] = allowed
    if (first === undefined) return callback(new Error(`${hostname} has only link-local addresses`), [])
    if (options.all) callback(null, allowed)
    else callback(null, first.address, first.family)
  })
}
