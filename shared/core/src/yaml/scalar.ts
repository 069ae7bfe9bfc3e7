/** The scalar types of YAML 1.1 that sigs.k8s.io/yaml supports. Dates, and numbers with base 60, are texts. */
type ScalarType = 'text' | 'null' | 'bool' | 'int' | 'float' | 'merge'

/** A parsed scalar. */
export interface Scalar {
  readonly type: ScalarType
  /** Integers beyond 2^53 are `bigint`, up to 64 bits. */
  readonly value: string | number | bigint | boolean | null
}

const words = new Map<string, Scalar>([
  ...wordsOf({ type: 'bool', value: true }, ['y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON']),
  ...wordsOf({ type: 'bool', value: false }, ['n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF']),
  ...wordsOf({ type: 'null', value: null }, ['', '~', 'null', 'Null', 'NULL']),
  ...wordsOf({ type: 'float', value: Number.NaN }, ['.nan', '.NaN', '.NAN']),
  ...wordsOf({ type: 'float', value: Number.POSITIVE_INFINITY }, ['.inf', '.Inf', '.INF', '+.inf', '+.Inf', '+.INF']),
  ...wordsOf({ type: 'float', value: Number.NEGATIVE_INFINITY }, ['-.inf', '-.Inf', '-.INF']),
  ['<<', { type: 'merge', value: '<<' }],
])
const wordLengthMax = 5

function wordsOf(scalar: Scalar, texts: readonly string[]): [string, Scalar][] {
  return texts.map((text) => [text, scalar])
}

/** First characters of scalars that may not be texts. */
const special = new Set([...'-+.0123456789~yYnNtTfFoO<'].map((character) => character.charCodeAt(0)))

/** Parses a scalar without quotes and tag. */
export function readPlain(source: string): Scalar {
  if (source !== '' && !special.has(source.charCodeAt(0))) return textScalar(source)
  const word = source.length <= wordLengthMax ? words.get(source) : undefined
  if (word !== undefined) return word
  const first = source.charCodeAt(0)
  if (first === dot) return decimalPoint.test(source) ? { type: 'float', value: Number(source) } : textScalar(source)
  if (first > nine || first < plus) return textScalar(source)
  return readNumber(source)
}

const plus = 0x2b
const dot = 0x2e
const nine = 0x39

/** A scalar with its own text as the value. */
export function textScalar(value: string): Scalar {
  return { type: 'text', value }
}

const decimalPoint = /^\.\d+(?:[eE][-+]?\d+)?$/
const integer = /^([-+]?)(?:(0[xX][\da-fA-F]+)|(0[bB][01]+)|0[oO]?([0-7]+)|(0|[1-9]\d*))$/
const float = /^[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?$/

/** Matches `0b-11`, which Go parses as -3. */
const signedBinary = /^0b([-+])(?=[01]+$)/

/** Parses a number without its underscores; a number beyond all types is a text. */
function readNumber(source: string): Scalar {
  const plain = source.includes('_') ? source.replaceAll('_', '') : source
  const [, sign = '', hexadecimal, binary, octal, decimal] = integer.exec(plain.replace(signedBinary, '$10b')) ?? []
  const digits = hexadecimal ?? binary ?? (octal === undefined ? decimal : `0o${octal}`)
  if (digits !== undefined) {
    const whole = wholeNumber(sign, digits)
    if (whole !== undefined) return { type: 'int', value: whole }
  }
  if (!float.test(plain)) return textScalar(source)
  const value = Number(plain)
  return Number.isFinite(value) ? { type: 'float', value: value === 0 ? 0 : value } : textScalar(source)
}

const exactDigitsMax = 15
const int64Min = -(2n ** 63n)
const int64Max = 2n ** 63n - 1n
const uint64Max = 2n ** 64n - 1n

/** An integer that fits a uint64 but not an int64 becomes the nearest double, as in JSON; undefined for any other beyond an int64. */
function wholeNumber(sign: string, digits: string): number | bigint | undefined {
  if (digits.length <= exactDigitsMax) return (sign === '-' ? -1 : 1) * Number(digits) || 0
  const value = sign === '-' ? -BigInt(digits) : BigInt(digits)
  if (value >= -BigInt(Number.MAX_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER)) return Number(value)
  if (value >= int64Min && value <= int64Max) return value
  return sign === '' && value <= uint64Max ? Number(value) : undefined
}

/** Matches dates and times that an explicit `!!timestamp` accepts; the value is the text. */
export const timestamp = /^\d{4}-\d\d?-\d\d?(?:[Tt]\d\d?:\d\d?:\d\d?(?:[.,]\d+)?(?:Z|[-+]\d\d:\d\d)|[ ]\d\d?:\d\d?:\d\d?(?:[.,]\d+)?)?$/

/** The JSON text of a key that is not a text. Go prints fractions with 32-bit precision. */
export function keyText({ type, value }: Scalar): string {
  return type === 'float' && typeof value === 'number' ? floatKey(value) : String(value)
}

const digitsMax = 9

function floatKey(value: number): string {
  const near = Math.fround(value)
  if (Number.isNaN(near)) return '.nan'
  if (!Number.isFinite(near)) return near > 0 ? '.inf' : '-.inf'
  if (near === 0) return '0'
  let precision = 1
  while (precision < digitsMax && Math.fround(Number(near.toPrecision(precision))) !== near) precision += 1
  const [mantissa = '', exponentText = '0'] = near.toExponential(precision - 1).split('e')
  const exponent = Number(exponentText)
  // The rule of `%g`.
  const isPlain = exponent >= -4 && exponent < 6
  if (isPlain) return String(Number(near.toPrecision(precision)))
  return `${mantissa}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`
}
