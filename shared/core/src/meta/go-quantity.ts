import { goQuote } from '../json/go-quote.ts'
import { printQuantity, readQuantity } from './quantity.ts'

const written = /^([+-]?)0*(\d*)(?:\.(\d*))?(.*)$/
const fastDigitsMax = 18
const fastExponentMin = -9
const binaryExponents: Readonly<Record<string, number>> = { Ki: 10, Mi: 20, Gi: 30, Ti: 40, Pi: 50, Ei: 60 }
const decimalExponents: Readonly<Record<string, number>> = { n: -9, u: -6, m: -3, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 }

/**
 * A quantity as Go's `%#v` prints it: as the number and scale that were read. The text is kept if it is the canonical one.
 * Large amounts, and those with a binary suffix and a fraction, are behind a pointer.
 */
export function goQuantity(text: string): string {
  const reading = readQuantity(text)
  if (reading.kind === 'malformed') return fields('value:0, scale:0', '(*inf.Dec)(nil)', '', 'DecimalSI')
  const { format } = reading.quantity
  const [, sign = '', whole = '', fraction = '', suffix = ''] = written.exec(text) ?? []
  const digits = `${whole === '' ? '0' : whole}${fraction}`
  const kept = printQuantity(reading.quantity) === text ? text : ''
  const binary = binaryExponents[suffix]
  if (binary !== undefined) {
    const isFast = fraction === '' && 14 - digits.length - Math.floor((binary * 3) / 10) >= 0
    if (!isFast) return behindPointer(format)
    const isKept = (BigInt(digits) & 7n) !== 0n
    return fields(
      `value:${sign === '-' ? '-' : ''}${BigInt(digits) << BigInt(binary)}, scale:0`,
      '(*inf.Dec)(nil)',
      isKept ? text : '',
      format,
    )
  }
  const exponent = decimalExponents[suffix] ?? (/^[eE]/.test(suffix) ? Number(suffix.slice(1)) : 0)
  const scale = exponent - fraction.length
  if (digits.length > fastDigitsMax || scale < fastExponentMin) return behindPointer(format)
  return fields(`value:${sign === '-' ? '-' : ''}${BigInt(digits)}, scale:${scale}`, '(*inf.Dec)(nil)', kept, format)
}

function behindPointer(format: string): string {
  return fields('value:0, scale:0', '(*inf.Dec)(0xc000000000)', '', format)
}

function fields(amount: string, decimal: string, text: string, format: string): string {
  return `resource.Quantity{i:resource.int64Amount{${amount}}, d:resource.infDecAmount{Dec:${decimal}}, s:${goQuote(text)}, Format:${goQuote(format)}}`
}
