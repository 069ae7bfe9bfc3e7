import { quote } from './quote.ts'

/** The octets of an address, or its error in Go's words; `zone` for an IPv6 address with a zone. */
export function readAddress(text: string): readonly number[] | string {
  for (const unit of text) {
    if (unit === '.') return readV4(text)
    if (unit === ':') return readV6(text)
    if (unit === '%') return 'missing IPv6 address'
  }
  return 'unable to parse IP'
}

const placed = (why: string, rest: string): string => `${why} (at ${quote(rest)})`

function readV4(text: string): readonly number[] | string {
  const octets: number[] = []
  let digits = ''
  for (let index = 0; index < text.length; index++) {
    const unit = text.charAt(index)
    if (unit >= '0' && unit <= '9') {
      if (digits === '0') return 'IPv4 field has octet with leading zero'
      digits += unit
      if (Number(digits) > 255) return 'IPv4 field has value >255'
    } else if (unit === '.') {
      if (digits === '' || index === text.length - 1) return placed('IPv4 field must have at least one digit', text.slice(index))
      if (octets.length === 3) return 'IPv4 address too long'
      octets.push(Number(digits))
      digits = ''
    } else return placed('unexpected character', text.slice(index))
  }
  return octets.length < 3 ? 'IPv4 address too short' : [...octets, Number(digits)]
}

function readV6(full: string): readonly number[] | string {
  const percent = full.indexOf('%')
  if (percent === full.length - 1) return 'zone must be a non-empty string'
  if (percent >= 0) {
    const address = readV6(full.slice(0, percent))
    return typeof address === 'string' ? address : 'zone'
  }
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
    if (digits.length > 4) return placed('each group must have 4 or less digits', text)
    if (digits === '') return placed('each colon-separated field must have at least one digit', text)
    if (text[digits.length] === '.') {
      if (ellipsis < 0 && octets.length !== 12) return placed('embedded IPv4 address must replace the final 2 fields of the address', text)
      if (octets.length > 12) return placed('too many hex fields to fit an embedded IPv4 at the end of the address', text)
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
    if (!text.startsWith(':')) return placed('unexpected character, want colon', text)
    if (text.length === 1) return placed('colon must be followed by more characters', text)
    text = text.slice(1)
    if (text.startsWith(':')) {
      if (ellipsis >= 0) return placed('multiple :: in address', text)
      ellipsis = octets.length
      text = text.slice(1)
      if (text === '') break
    }
  }
  if (text !== '') return placed('trailing garbage after address', text)
  if (octets.length < 16) {
    if (ellipsis < 0) return 'address string too short'
    return [...octets.slice(0, ellipsis), ...new Array<number>(16 - octets.length).fill(0), ...octets.slice(ellipsis)]
  }
  return ellipsis >= 0 ? 'the :: must expand to at least one field of zeros' : octets
}

/** The text of an address: dotted decimal, or the form of RFC 5952. */
export function printAddress(octets: readonly number[]): string {
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
