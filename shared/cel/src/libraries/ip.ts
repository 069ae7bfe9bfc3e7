import { type Implementations, of, on, onText } from '../implementation.ts'
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
    return printOctets(this.octets)
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
    return `${printOctets(this.octets)}/${this.bits}`
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

/** The octets of an address, or its error in Go's words. */
function readAddress(text: string): readonly number[] | string {
  for (const unit of text) {
    if (unit === '.') return readV4(text)
    if (unit === ':') return readV6(text)
    if (unit === '%') return 'missing IPv6 address'
  }
  return 'unable to parse IP'
}

function readV4(text: string): readonly number[] | string {
  const octets: number[] = []
  let digits = ''
  for (const unit of text) {
    if (unit >= '0' && unit <= '9') {
      if (digits === '0') return 'IPv4 field has octet with leading zero'
      digits += unit
      if (Number(digits) > 255) return 'IPv4 field has value >255'
    } else if (unit === '.') {
      if (digits === '') return 'IPv4 field must have at least one digit'
      if (octets.length === 3) return 'IPv4 address too long'
      octets.push(Number(digits))
      digits = ''
    } else return `unexpected character (at ${JSON.stringify(text.slice(text.indexOf(unit)))})`
  }
  if (digits === '') return 'IPv4 field must have at least one digit'
  if (octets.length < 3) return 'IPv4 address too short'
  return [...octets, Number(digits)]
}

function readV6(full: string): readonly number[] | string {
  const percent = full.indexOf('%')
  if (percent >= 0) return percent === full.length - 1 ? 'zone must be a non-empty string' : 'zone'
  let text = full
  const octets: number[] = []
  let ellipsis = -1
  if (text.startsWith('::')) {
    ellipsis = 0
    text = text.slice(2)
    if (text === '') return new Array<number>(16).fill(0)
  }
  while (octets.length < 16) {
    const digits = /^[0-9A-Fa-f]*/.exec(text)?.[0] ?? ''
    if (digits.length > 4) return `each group must have 4 or less digits (at ${JSON.stringify(text)})`
    if (digits === '') return `each colon-separated field must have at least one digit (at ${JSON.stringify(text)})`
    if (text[digits.length] === '.') {
      if (ellipsis < 0 && octets.length !== 12)
        return `embedded IPv4 address must replace the final 2 fields of the address (at ${JSON.stringify(text)})`
      if (octets.length > 12) return `too many hex fields to fit an embedded IPv4 at the end of the address (at ${JSON.stringify(text)})`
      const embedded = readV4(text)
      if (typeof embedded === 'string') return embedded
      octets.push(...embedded)
      text = ''
      break
    }
    const value = Number.parseInt(digits, 16)
    octets.push(value >> 8, value & 0xff)
    text = text.slice(digits.length)
    if (text === '') break
    if (!text.startsWith(':')) return `unexpected character, want colon (at ${JSON.stringify(text)})`
    if (text.length === 1) return `colon must be followed by more characters (at ${JSON.stringify(text)})`
    text = text.slice(1)
    if (text.startsWith(':')) {
      if (ellipsis >= 0) return `multiple :: in address (at ${JSON.stringify(text)})`
      ellipsis = octets.length
      text = text.slice(1)
      if (text === '') break
    }
  }
  if (text !== '') return `trailing garbage after address (at ${JSON.stringify(text)})`
  if (octets.length < 16) {
    if (ellipsis < 0) return 'address string too short'
    return [...octets.slice(0, ellipsis), ...new Array<number>(16 - octets.length).fill(0), ...octets.slice(ellipsis)]
  }
  return ellipsis >= 0 ? 'the :: must expand to at least one field of zeros' : octets
}

function printOctets(octets: readonly number[]): string {
  if (octets.length === 4) return octets.join('.')
  const fields: number[] = []
  for (let index = 0; index < 16; index += 2) fields.push(((octets[index] ?? 0) << 8) | (octets[index + 1] ?? 0))
  let start = -1
  let length = 1
  for (let index = 0; index < 8; index++) {
    let end = index
    while (end < 8 && fields[end] === 0) end++
    if (end - index > length) {
      start = index
      length = end - index
    }
  }
  const texts = fields.map((field) => field.toString(16))
  if (start < 0) return texts.join(':')
  return `${texts.slice(0, start).join(':')}::${texts.slice(start + length).join(':')}`
}

function isMapped(octets: readonly number[]): boolean {
  return octets.length === 16 && octets.slice(0, 10).every((octet) => octet === 0) && octets[10] === 0xff && octets[11] === 0xff
}

function readIp(text: string): Ip | CelError {
  const octets = readAddress(text)
  if (octets === 'zone') return new CelError(`IP address ${JSON.stringify(text)} with zone value is not allowed`)
  if (typeof octets === 'string') {
    return new CelError(
      `IP Address ${JSON.stringify(text)} parse error during conversion from string: ParseAddr(${JSON.stringify(text)}): ${octets}`,
    )
  }
  return isMapped(octets) ? new CelError(`IPv4-mapped IPv6 address ${JSON.stringify(text)} is not allowed`) : new Ip(octets)
}

function readCidr(text: string): Cidr | CelError {
  const prefix = 'network address parse error during conversion from string: '
  const slash = text.lastIndexOf('/')
  const wrong = (what: string) => new CelError(`${prefix}${prefix}netip.ParsePrefix(${JSON.stringify(text)}): ${what}`)
  if (slash < 0) return wrong("no '/'")
  const address = text.slice(0, slash)
  const bits = text.slice(slash + 1)
  const octets = readAddress(address)
  if (octets === 'zone') return wrong('IPv6 zones cannot be present in a prefix')
  if (typeof octets === 'string') return wrong(`ParseAddr(${JSON.stringify(address)}): ${octets}`)
  if (!/^(?:0|[1-9]\d*)$/.test(bits)) return wrong(`bad bits after slash: ${JSON.stringify(bits)}`)
  if (Number(bits) > octets.length * 8) return wrong('prefix length out of range')
  return isMapped(octets) ? new CelError(`IPv4-mapped IPv6 address ${JSON.stringify(text)} is not allowed`) : new Cidr(octets, Number(bits))
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
      return other instanceof Ip ? cidr.containsOctets(other.octets) : noSuchOverload()
    },
    2,
  ),
  containsCIDR: on(
    Cidr,
    (cidr, other) => {
      const inner = typeof other === 'string' ? readCidr(other) : other
      return inner instanceof Cidr ? cidr.bits <= inner.bits && cidr.containsOctets(inner.octets) : noSuchOverload()
    },
    2,
  ),
  prefixLength: on(Cidr, (cidr) => cidr.bits),
  masked: on(Cidr, (cidr) => cidr.masked()),
}
