import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'

/** True for addresses that only this machine can reach. */
export function isLoopback(address: string): boolean {
  return address === '::1' || (isIP(address) === 4 && address.startsWith('127.'))
}

/** This machine's address for other machines: the listening address, unless that is a wildcard or loopback address. */
export function advertisedAddress(bindAddress: string): string {
  const isOwn = bindAddress === '0.0.0.0' || bindAddress === '::' || isLoopback(bindAddress)
  if (!isOwn) return bindAddress
  const family = bindAddress.includes(':') ? 'IPv6' : 'IPv4'
  const addresses = Object.values(networkInterfaces()).flatMap((found) => found ?? [])
  const reachable = addresses.find((found) => !found.internal && found.family === family && !found.address.startsWith('fe80:'))
  return reachable?.address ?? (family === 'IPv6' ? '::1' : '127.0.0.1')
}

/** The host in URLs for clients: an address of this machine if the port listens on all. */
export function publicHost(bindAddress: string): string {
  return printHost(bindAddress === '0.0.0.0' || bindAddress === '::' ? advertisedAddress(bindAddress) : bindAddress)
}

/** The host in URLs by which this machine reaches the address. */
export function printHost(bindAddress: string): string {
  if (bindAddress === '0.0.0.0') return '127.0.0.1'
  if (bindAddress === '::') return '[::1]'
  return bindAddress.includes(':') ? `[${bindAddress}]` : bindAddress
}

/** True if traffic to an address with a port never leaves this machine. */
export function staysHere(address: string): boolean {
  const host = address
    .replace(/^dns:\/\/\//, '')
    .replace(/:\d+$/, '')
    .replace(/^\[|\]$/g, '')
  return host === 'localhost' || isLoopback(host)
}
