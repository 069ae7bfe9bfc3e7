import { goQuote } from '../json/go-quote.ts'
import { printQuantity, type Quantity, readQuantity, roundUpQuantity } from './quantity.ts'

const written = /^([+-]?)0*(\d*)(?:\.(\d*))?(.*)$/
const fastDigitsMax = 18
const fastExponentMin = -9
const binaryExponents: Readonly<Record<string, number>> = { Ki: 10, Mi: 20, Gi: 30, Ti: 40, Pi: 50, Ei: 60 }
const decimalExponents: Readonly<Record<string, number>> = { n: -9, u: -6, m: -3, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 }

/** A quantity as the number and scale that Go reads it into. */
interface GoQuantityParts {
  readonly amount: bigint
  readonly scale: number
  /** The text if Go keeps it, otherwise ''. */
  readonly text: string
  readonly format: string
  /** For amounts that are large, or have a binary suffix and a fraction: `unscaled` · 10^−`scale`; `amount` is then 0. */
  readonly decimal?: { readonly unscaled: bigint; readonly scale: number }
}

/** The parts of a quantity; an invalid text counts as zero. */
export function goQuantityParts(text: string): GoQuantityParts {
  const reading = readQuantity(text)
  if (reading.kind === 'malformed') return { amount: 0n, scale: 0, text: '', format: 'DecimalSI' }
  const { quantity } = reading
  const { format } = quantity
  const [, sign = '', whole = '', fraction = '', suffix = ''] = written.exec(text) ?? []
  const digits = `${whole === '' ? '0' : whole}${fraction}`
  const signed = sign === '-' ? -BigInt(digits) : BigInt(digits)
  const binary = binaryExponents[suffix]
  if (binary !== undefined) {
    const isFast = fraction === '' && 14 - digits.length - Math.floor((binary * 3) / 10) >= 0
    if (!isFast) return slowParts(quantity)
    return { amount: signed << BigInt(binary), scale: 0, text: (signed & 7n) !== 0n ? kept(text, quantity) : '', format }
  }
  const exponent = decimalExponents[suffix] ?? (/^[eE]/.test(suffix) ? Number(suffix.slice(1)) : 0)
  const scale = exponent - fraction.length
  if (digits.length > fastDigitsMax || scale < fastExponentMin) return slowParts(quantity)
  return { amount: signed, scale, text: kept(text, quantity), format }
}

function kept(text: string, quantity: Quantity): string {
  return printQuantity(quantity) === text ? text : ''
}

/** Whole amounts with a binary suffix beyond int64 keep their scale; others have nine digits, rounded up. */
function slowParts(quantity: Quantity): GoQuantityParts {
  const { format } = quantity
  const isBinary = format === 'BinarySI'
  if (isBinary && roundUpQuantity(quantity) >= 2n ** 63n) {
    return { amount: 0n, scale: 0, text: '', format, decimal: { unscaled: roundUpQuantity(quantity), scale: 0 } }
  }
  const unscaled = roundUpQuantity(quantity, -9)
  const isBelowOne = isBinary && unscaled < 1_000_000_000n
  return { amount: 0n, scale: 0, text: '', format: isBelowOne ? 'DecimalSI' : format, decimal: { unscaled, scale: 9 } }
}

/**
 * A quantity as Go's `%#v` prints it: with the number and scale that were read, and with the text if it is canonical.
 * Large amounts, and fractional ones with a binary suffix, are behind a pointer.
 */
export function goQuantity(value: string): string {
  const { amount, scale, text, format, decimal } = goQuantityParts(value)
  const pointer = decimal === undefined ? '(*inf.Dec)(nil)' : '(*inf.Dec)(0xc000000000)'
  const fields = `i:resource.int64Amount{value:${amount}, scale:${scale}}, d:resource.infDecAmount{Dec:${pointer}}`
  return `resource.Quantity{${fields}, s:${goQuote(text)}, Format:${goQuote(format)}}`
}
