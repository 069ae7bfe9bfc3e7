import { printAddress, readAddress } from '../address.ts'
import { type Implementations, of, on, onText } from '../implementation.ts'
import { quote } from '../quote.ts'
import { CelError, noSuchOverload, Opaque } from '../values/values.ts'

/** The result of `ip(text)`: 4 or 16 octets. */
class Ip extends Opaque {
  override readonly typeName = 'net.IP'
  readonly octets: readonly number[]

  constructor(octets: readonly number[]) {
    super()
    this.octets = octets
  }

  override get size(): number {
    return this.octets.length
  }

  override equals(other: Opaque): boolean {
    return other instanceof Ip && sameOctets(this.octets, other.octets)
  }

  override toString(): string {
    return printAddress(this.octets)
  }
}

/** The result of `cidr(text)`: an address and the length of its prefix. */
class Cidr extends Opaque {
  override readonly typeName = 'net.CIDR'
  readonly octets: readonly number[]
  readonly bits: number

  constructor(octets: readonly number[], bits: number) {
    super()
    this.octets = octets
    this.bits = bits
  }

  override get size(): number {
    return Math.ceil(this.bits / 8)
  }

  override equals(other: Opaque): boolean {
    return other instanceof Cidr && this.bits === other.bits && sameOctets(this.octets, other.octets)
  }

  override toString(): string {
    return `${printAddress(this.octets)}/${this.bits}`
  }

  /** The same range with all host bits zero. */
  masked(): Cidr {
    return new Cidr(maskOctets(this.octets, this.bits), this.bits)
  }

  containsOctets(octets: readonly number[]): boolean {
    if (octets.length !== this.octets.length) return false
    return sameOctets(maskOctets(octets, this.bits), maskOctets(this.octets, this.bits))
  }
}

function sameOctets(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((octet, index) => octet === b[index])
}

function maskOctets(octets: readonly number[], bits: number): number[] {
  return octets.map((octet, index) => {
    const kept = Math.min(8, Math.max(0, bits - index * 8))
    return octet & (0xff << (8 - kept)) & 0xff
  })
}

function isMapped(octets: readonly number[]): boolean {
  return octets.length === 16 && octets.slice(0, 10).every((octet) => octet === 0) && octets[10] === 0xff && octets[11] === 0xff
}

function readIp(text: string): Ip | CelError {
  const octets = readAddress(text)
  if (octets === 'zone') return new CelError(`IP address ${quote(text)} with zone value is not allowed`)
  if (typeof octets === 'string') {
    return new CelError(`IP Address ${quote(text)} parse error during conversion from string: ParseAddr(${quote(text)}): ${octets}`)
  }
  return isMapped(octets) ? new CelError(`IPv4-mapped IPv6 address ${quote(text)} is not allowed`) : new Ip(octets)
}

function readCidr(text: string): Cidr | CelError {
  const prefix = 'network address parse error during conversion from string: '
  const slash = text.lastIndexOf('/')
  const wrong = (what: string) => new CelError(`${prefix}${prefix}netip.ParsePrefix(${quote(text)}): ${what}`)
  if (slash < 0) return wrong("no '/'")
  const address = text.slice(0, slash)
  const bits = text.slice(slash + 1)
  const octets = readAddress(address)
  if (octets === 'zone') return wrong('IPv6 zones cannot be present in a prefix')
  if (typeof octets === 'string') return wrong(`ParseAddr(${quote(address)}): ${octets}`)
  if (!/^(?:0|[1-9]\d*)$/.test(bits)) return wrong(`bad bits after slash: ${quote(bits)}`)
  if (Number(bits) > octets.length * 8) return wrong('prefix length out of range')
  return isMapped(octets) ? new CelError(`${prefix}IPv4-mapped IPv6 address ${quote(text)} is not allowed`) : new Cidr(octets, Number(bits))
}

function isUnspecified({ octets }: Ip): boolean {
  return octets.every((octet) => octet === 0)
}

function isLoopback({ octets }: Ip): boolean {
  return octets.length === 4 ? octets[0] === 127 : octets.every((octet, index) => octet === (index === 15 ? 1 : 0))
}

function isLinkLocalUnicast({ octets }: Ip): boolean {
  const [a = 0, b = 0] = octets
  return octets.length === 4 ? a === 169 && b === 254 : a === 0xfe && (b & 0xc0) === 0x80
}

function isGlobalUnicast(ip: Ip): boolean {
  const { octets } = ip
  const [a = 0] = octets
  if (octets.length === 4 && octets.every((octet) => octet === 255)) return false
  const isMulticast = octets.length === 4 ? (a & 0xf0) === 0xe0 : a === 0xff
  return !isMulticast && !isUnspecified(ip) && !isLoopback(ip) && !isLinkLocalUnicast(ip)
}

/** kube-apiserver's error of a range for a text that it cannot read. */
const unreadable = new CelError('no such overload')

/** The functions of addresses and ranges. */
export const ipFunctions: Implementations = {
  ip: of(1, (value) => (value instanceof Cidr ? new Ip(value.octets) : typeof value === 'string' ? readIp(value) : noSuchOverload())),
  isIP: onText((text) => readIp(text) instanceof Ip),
  'ip.isCanonical': onText((text) => {
    const read = readIp(text)
    return read instanceof CelError ? read : String(read) === text
  }),
  family: on(Ip, ({ octets }) => (octets.length === 4 ? 4 : 6)),
  isUnspecified: on(Ip, isUnspecified),
  isLoopback: on(Ip, isLoopback),
  isLinkLocalMulticast: on(Ip, ({ octets }) => {
    const [a = 0, b = 0, c = 0] = octets
    return octets.length === 4 ? a === 224 && b === 0 && c === 0 : a === 0xff && (b & 0x0f) === 2
  }),
  isLinkLocalUnicast: on(Ip, isLinkLocalUnicast),
  isGlobalUnicast: on(Ip, isGlobalUnicast),
  cidr: onText(readCidr),
  isCIDR: onText((text) => readCidr(text) instanceof Cidr),
  containsIP: on(
    Cidr,
    (cidr, address) => {
      const other = typeof address === 'string' ? readIp(address) : address
      return other instanceof Ip ? cidr.containsOctets(other.octets) : typeof address === 'string' ? unreadable : noSuchOverload()
    },
    2,
  ),
  containsCIDR: on(
    Cidr,
    (cidr, other) => {
      const inner = typeof other === 'string' ? readCidr(other) : other
      return inner instanceof Cidr
        ? cidr.bits <= inner.bits && cidr.containsOctets(inner.octets)
        : typeof other === 'string'
          ? unreadable
          : noSuchOverload()
    },
    2,
  ),
  prefixLength: on(Cidr, (cidr) => cidr.bits),
  masked: on(Cidr, (cidr) => cidr.masked()),
}
