import { goQuote } from '../json/go-quote.ts'

/** A duration in nanoseconds, written in the API and in flags as `1h30m` or `250ms`. It fits into an int64. */
export type DurationNs = bigint

const units: ReadonlyMap<string, bigint> = new Map([
  ['ns', 1n],
  ['us', 1_000n],
  ['µs', 1_000n],
  ['μs', 1_000n],
  ['ms', 1_000_000n],
  ['s', 1_000_000_000n],
  ['m', 60_000_000_000n],
  ['h', 3_600_000_000_000n],
])

const second = 1_000_000_000n
const int64Max = 2n ** 63n - 1n
const textLengthMax = 256
const shape = /^[-+]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|[\u00b5\u03bc]s|ms|s|m|h))+$/
const part = /(\d*)(?:\.(\d*))?(ns|us|[\u00b5\u03bc]s|ms|s|m|h)/g

/** The duration of a text: numbers with units, one after another, or a bare `0`; undefined if invalid. */
export function parseDuration(text: string): DurationNs | undefined {
  if (/^[-+]?0$/.test(text)) return 0n
  if (text.length > textLengthMax || !shape.test(text)) return undefined
  let total = 0n
  for (const [, whole = '', fraction = '', name = ''] of text.matchAll(part)) {
    const unit = units.get(name) ?? 0n
    total += BigInt(whole) * unit + (BigInt(fraction) * unit) / 10n ** BigInt(fraction.length)
  }
  if (total > int64Max) return undefined
  return text.startsWith('-') ? -total : total
}

const leadingParts = /^[-+]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|[\u00b5\u03bc]s|ms|s|m|h)(?=[\d.]|$))*/

/** The error of a duration in the words of Go's `time.ParseDuration`; undefined if it is valid. */
export function findDurationProblem(text: string): string | undefined {
  if (parseDuration(text) !== undefined) return undefined
  const rest = text.length > textLengthMax ? '' : text.replace(leadingParts, '')
  const unit = /^(?:\d+(?:\.\d*)?|\.\d+)([^\d.]*)/.exec(rest)?.[1]
  if (unit === undefined) return `time: invalid duration ${goQuote(text)}`
  return `time: ${unit === '' ? 'missing unit' : `unknown unit ${goQuote(unit)}`} in duration ${goQuote(text)}`
}

/** Prints whole hours and minutes, then seconds with a fraction; below a second, the largest unit with a whole part. */
export function printDuration(duration: DurationNs): string {
  if (duration < 0n) return `-${printDuration(-duration)}`
  if (duration === 0n) return '0s'
  if (duration < 1_000n) return `${duration}ns`
  if (duration < 1_000_000n) return `${decimal(duration, 1_000n)}µs`
  if (duration < second) return `${decimal(duration, 1_000_000n)}ms`
  const minutes = duration / (60n * second)
  const seconds = `${decimal(duration % (60n * second), second)}s`
  if (minutes === 0n) return seconds
  return minutes < 60n ? `${minutes}m${seconds}` : `${minutes / 60n}h${minutes % 60n}m${seconds}`
}

/** The duration in milliseconds, for timers. */
export function durationToMs(duration: DurationNs): number {
  return Number(duration) / 1_000_000
}

function decimal(value: bigint, unit: bigint): string {
  const digits = unit.toString().length - 1
  const fraction = (value % unit).toString().padStart(digits, '0').replace(/0+$/, '')
  return fraction === '' ? `${value / unit}` : `${value / unit}.${fraction}`
}
