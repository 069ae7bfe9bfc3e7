import { quote } from '../quote.ts'
import { isList, itemsOf, mapGet, mapKeys } from '../values/collections.ts'
import { convertToString, decodeText, printDouble } from '../values/convert.ts'
import type { Meter } from '../values/meter.ts'
import { compareTexts } from '../values/text.ts'
import {
  CelError,
  Duration,
  doubleOf,
  isInt,
  kindOf,
  noSuchOverload,
  numberOf,
  TypeValue,
  typeNameOf,
  Uint,
  type Value,
} from '../values/values.ts'
import { type ClauseLetter, FormatRefused, precisionDefault, visitClauses, wrongArgument } from './format-clauses.ts'

/**
 * The style of `format`: version 2 of the strings library, which Kubernetes has (thousands separated, `3.1×10⁰⁰`,
 * items of lists as literals), or the specification's.
 */
export type FormatStyle = 'version2' | 'specified'

const precisionMax = 100
const depthMax = 100
/** The work of printing an item, in steps. */
const itemSteps = 64
/** The work of printing a byte in hexadecimal. */
const byteSteps = 6

interface Printing {
  readonly meter: Meter
  readonly style: FormatStyle
}

/** `text.format(list)`. */
export function formatText(meter: Meter, text: Value, args: Value, style: FormatStyle): Value {
  if (typeof text !== 'string' || !isList(args)) return noSuchOverload()
  try {
    return formatAll({ meter, style }, text, itemsOf(meter, args))
  } catch (error) {
    if (error instanceof FormatRefused) return new CelError(error.message)
    throw error
  }
}

function formatAll(printing: Printing, text: string, args: readonly Value[]): string {
  let made = ''
  visitClauses(text, args.length, {
    text: (piece) => {
      made += piece
    },
    clause: (letter, index, precision) => {
      if (precision > precisionMax)
        throw new FormatRefused(`could not parse formatting clause: precision ${precision} is above ${precisionMax}`)
      const printed = clauses[letter](printing, args[index], precision)
      printing.meter.addTextWork(printed.length)
      made += printed
    },
  })
  return made
}

const clauses: Readonly<Record<ClauseLetter, (printing: Printing, value: Value, precision: number) => string>> = {
  s: (printing, value) => printAny(printing, value, false, 0),
  d: (_, value) => decimal(value),
  f: ({ style }, value, precision) => fixed(value, precision, style),
  e: ({ style }, value, precision) => scientific(value, precision, style),
  b: (_, value) => (typeof value === 'boolean' ? (value ? '1' : '0') : whole(value, 2, 'b')),
  o: (_, value) => whole(value, 8, 'o'),
  x: ({ meter }, value) => hex(meter, value),
  X: ({ meter }, value) => hex(meter, value).toUpperCase(),
}

function refuse(letter: ClauseLetter, value: Value): never {
  throw new FormatRefused(wrongArgument(letter, typeNameOf(value)))
}

function whole(value: Value, radix: number, letter: ClauseLetter): string {
  if (isInt(value)) return value.toString(radix)
  return value instanceof Uint ? value.value.toString(radix) : refuse(letter, value)
}

function hex(meter: Meter, value: Value): string {
  if (typeof value === 'string' || value instanceof Uint8Array) meter.addWork(value.length * byteSteps)
  if (typeof value === 'string') return hexOf(new TextEncoder().encode(value))
  return value instanceof Uint8Array ? hexOf(value) : whole(value, 16, 'x')
}

const pairs = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

function hexOf(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += pairs[byte]
  return text
}

function decimal(value: Value): string {
  if (isInt(value)) return String(value)
  if (value instanceof Uint) return String(value.value)
  const double = doubleOf(value)
  if (double !== undefined && !Number.isFinite(double)) return printSpecial(double, 'specified')
  return refuse('d', value)
}

function floating(value: Value, style: FormatStyle, letter: ClauseLetter): number {
  const double = doubleOf(value)
  if (double !== undefined) return double
  if (style === 'version2') {
    if (value === 'NaN' || value === 'Infinity' || value === '-Infinity') return Number(value)
  } else {
    const number = numberOf(value)
    if (number !== undefined) return Number(number)
  }
  return refuse(letter, value)
}

function printSpecial(value: number, style: FormatStyle): string {
  if (Number.isNaN(value)) return 'NaN'
  const infinity = style === 'version2' ? '∞' : 'Infinity'
  return value > 0 ? infinity : `-${infinity}`
}

function fixed(value: Value, precision: number, style: FormatStyle): string {
  const number = floating(value, style, 'f')
  if (!Number.isFinite(number)) return printSpecial(number, style)
  const text = toFixedEven(number, precision)
  return style === 'version2' ? text.replace(/\d(?=(?:\d{3})+(?!\d))(?<!\.\d*)/g, '$&,') : text
}

/** As `toFixed`, with ties to the even digit. */
function toFixedEven(value: number, precision: number): string {
  const scaled = Math.abs(value) * 10 ** precision
  const floor = Math.floor(scaled)
  const isTie =
    scaled - floor === 0.5 &&
    precision <= 15 &&
    scaled < 2 ** 52 &&
    Math.abs(value) === scaled / 10 ** precision &&
    isDyadic(value, precision)
  if (!isTie) return value.toFixed(precision)
  const even = floor % 2 === 0 ? floor : floor + 1
  const digits = String(even).padStart(precision + 1, '0')
  const text = precision === 0 ? digits : `${digits.slice(0, -precision)}.${digits.slice(-precision)}`
  return value < 0 ? `-${text}` : text
}

function isDyadic(value: number, precision: number): boolean {
  return Number.isInteger(value * 2 ** (precision + 1))
}

const raised = '⁰¹²³⁴⁵⁶⁷⁸⁹'

function scientific(value: Value, precision: number, style: FormatStyle): string {
  const number = floating(value, style, 'e')
  if (!Number.isFinite(number)) return printSpecial(number, style)
  const [digits = '', exponent = '0'] = number.toExponential(precision).split('e')
  const sign = exponent.startsWith('-') ? '-' : '+'
  const places = exponent.replace(/^[+-]/, '').padStart(2, '0')
  if (style === 'specified') return `${digits}e${sign}${places}`
  return `${digits}×10${sign === '-' ? '⁻' : ''}${Array.from(places, (place) => raised[Number(place)]).join('')}`
}

function printAny(printing: Printing, value: Value, isItem: boolean, depth: number): string {
  const { meter, style } = printing
  meter.addWork(itemSteps)
  if (depth > depthMax) throw new FormatRefused('error during formatting: value is nested too deeply')
  const asLiteral = isItem && style === 'version2'
  switch (kindOf(value)) {
    case 'null':
      return 'null'
    case 'list':
      return `[${itemsOf(meter, value)
        .map((item) => printAny(printing, item, true, depth + 1))
        .join(', ')}]`
    case 'map':
      return printMap(printing, value, depth)
    case 'string':
      return asLiteral ? quote(String(value)) : String(value)
    case 'bytes':
      return printBytes(value, asLiteral)
    case 'double':
      return printDoubleItem(doubleOf(value) ?? 0, style, asLiteral)
    case 'timestamp':
    case 'duration': {
      const text = String(convertToString(value))
      if (!asLiteral) return text
      return `${value instanceof Duration ? 'duration' : 'timestamp'}("${text}")`
    }
    case 'type':
      return value instanceof TypeValue ? value.name : ''
    case 'bool':
    case 'int':
    case 'uint':
      return String(convertToString(value))
    default:
      return refuse('s', value)
  }
}

function printBytes(value: Value, asLiteral: boolean): string {
  const text = value instanceof Uint8Array ? decodeText(value) : ''
  if (text instanceof CelError) throw new FormatRefused(`error during formatting: ${text.message}`)
  return asLiteral ? `b${quote(text)}` : text
}

function printDoubleItem(value: number, style: FormatStyle, asLiteral: boolean): string {
  if (!Number.isFinite(value))
    return style === 'version2' ? (asLiteral ? `"${printDouble(value)}"` : printDouble(value)) : printSpecial(value, style)
  return asLiteral ? value.toFixed(precisionDefault) : printDouble(value)
}

function printMap(printing: Printing, value: Value, depth: number): string {
  const { meter, style } = printing
  const entries: [string, string][] = []
  for (const key of mapKeys(meter, value)) {
    entries.push([printAny(printing, key, true, depth + 1), printAny(printing, mapGet(meter, value, key), true, depth + 1)])
  }
  entries.sort(([a], [b]) => compareTexts(a, b))
  return `{${entries.map(([key, item]) => `${key}${style === 'version2' ? ':' : ': '}${item}`).join(', ')}}`
}
