import { isIPv4 } from 'node:net'

const groups6 = 8

/** An address in network order: 4 bytes, or 16. */
export function addressBytes(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number))
  // A URL has one way to write an address: hexadecimal groups, without the zone that only this machine knows.
  const canonical = new URL(`http://[${address.replace(/%.*$/, '')}]/`).hostname.slice(1, -1)
  const [head = [], tail = []] = canonical.split('::').map((half) => (half === '' ? [] : half.split(':')))
  const zeros = Array<string>(groups6 - head.length - tail.length).fill('0')
  const bytes = Buffer.alloc(2 * groups6)
  for (const [index, group] of [...head, ...zeros, ...tail].entries()) bytes.writeUInt16BE(Number.parseInt(group, 16), 2 * index)
  return bytes
}
