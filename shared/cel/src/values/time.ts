import { boundedMemo } from '../memo.ts'
import type { Meter } from './meter.ts'
import { CelError, Duration, Timestamp } from './values.ts'

const nsPerSecond = 1_000_000_000n
const int64Max = 2n ** 63n - 1n
const int64Min = -(2n ** 63n)
const timestampMin = -62_135_596_800n * nsPerSecond
const timestampMax = 253_402_300_800n * nsPerSecond - 1n

const durationOverflow = new CelError('duration overflow: out of range')
const timestampOverflow = new CelError('timestamp overflow: out of range')

/** A duration; an error beyond 2^63 nanoseconds. */
export function durationOf(ns: bigint): Duration | CelError {
  return ns > int64Max || ns < int64Min ? durationOverflow : new Duration(ns)
}

/** A timestamp; an error outside of the years 1 to 9999. */
export function timestampOf(ns: bigint, offsetSeconds = 0): Timestamp | CelError {
  return ns > timestampMax || ns < timestampMin ? timestampOverflow : new Timestamp(ns, offsetSeconds)
}

/** A timestamp moved by some nanoseconds; an error outside of the years 1 to 9999. */
export function addToTimestamp(time: Timestamp, ns: bigint): Timestamp | CelError {
  return timestampOf(time.ns + ns, time.offsetSeconds)
}

const units: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: nsPerSecond,
  m: 60n * nsPerSecond,
  h: 3600n * nsPerSecond,
}
const part = /(\d*)(?:\.(\d*))?(ns|us|[\u00b5\u03bc]s|ms|s|m|h)/y
/** The work of reading a part of a duration and a time, in steps. */
const partSteps = 64
const timeSteps = 128
const fractionDigitsMax = 18
const wholeDigitsMax = 19

/** Reads a duration in Go's form (`1h2m3.5s`); undefined for anything else, or beyond 2^63 nanoseconds. */
export function parseDuration(meter: Meter, text: string): Duration | undefined {
  const isNegative = text.startsWith('-')
  const start = isNegative || text.startsWith('+') ? 1 : 0
  if (text.slice(start) === '0') return new Duration(0n)
  if (start === text.length) return undefined
  let ns = 0n
  part.lastIndex = start
  while (part.lastIndex < text.length) {
    meter.addWork(partSteps)
    const match = part.exec(text)
    if (match === null) return undefined
    const [, whole = '', fraction = '', unit = ''] = match
    const scale = units[unit]
    if (scale === undefined || (whole === '' && fraction === '') || whole.replace(/^0+/, '').length > wholeDigitsMax) return undefined
    const digits = fraction.slice(0, fractionDigitsMax)
    ns += BigInt(whole === '' ? '0' : whole) * scale
    if (digits !== '') ns += (BigInt(digits) * scale) / 10n ** BigInt(digits.length)
    if (ns > int64Max + 1n) return undefined
  }
  const signed = isNegative ? -ns : ns
  return signed > int64Max ? undefined : new Duration(signed)
}

/** A duration as text: seconds with a fraction, as in `90.5s`. */
export function printDuration(duration: Duration): string {
  const negative = duration.ns < 0n
  const ns = negative ? -duration.ns : duration.ns
  return `${negative ? '-' : ''}${ns / nsPerSecond}${printFraction(ns % nsPerSecond)}s`
}

function printFraction(ns: bigint): string {
  return ns === 0n ? '' : `.${String(ns).padStart(9, '0').replace(/0+$/, '')}`
}

const rfc3339 = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:[.,](\d+))?([Zz]|([+-])(\d\d):(\d\d))$/

/** Reads a time in RFC 3339; undefined for anything else or outside of the years 1 to 9999. */
export function parseTimestamp(meter: Meter, text: string): Timestamp | undefined {
  meter.addWork(timeSteps + text.length)
  const match = rfc3339.exec(text)
  if (match === null) return undefined
  const [, year = '', month = '', day = '', hour = '', minute = '', second = '', fraction = '', zone = '', sign = '', h = '', m = ''] =
    match
  if (zone === 'z' || text[10] === 't') return undefined
  const ms = utcDay(Number(year), Number(month), Number(day))
  if (ms === undefined || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined
  if (sign !== '' && (Number(h) > 23 || Number(m) > 59)) return undefined
  const offset = sign === '' ? 0 : (sign === '-' ? -1 : 1) * (Number(h) * 3600 + Number(m) * 60)
  const seconds = ms / 1000 + Number(hour) * 3600 + Number(minute) * 60 + Number(second) - offset
  const ns = BigInt(seconds) * nsPerSecond + BigInt(fraction.slice(0, 9).padEnd(9, '0'))
  const made = timestampOf(ns, offset)
  return made instanceof CelError ? undefined : made
}

/** Reads a date (`2006-01-02`) as its first moment, UTC; undefined for anything else. */
export function parseDate(meter: Meter, text: string): Timestamp | undefined {
  return /^\d{4}-\d\d-\d\d$/.test(text) ? parseTimestamp(meter, `${text}T00:00:00Z`) : undefined
}

function utcDay(year: number, month: number, day: number): number | undefined {
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day ? date.getTime() : undefined
}

/** A time in RFC 3339, with only as many fractional digits as it needs. */
export function printTimestamp(time: Timestamp): string {
  const fraction = ((time.ns % nsPerSecond) + nsPerSecond) % nsPerSecond
  const date = new Date(Number((time.ns - fraction) / 1_000_000n) + time.offsetSeconds * 1000)
  return `${date.toISOString().slice(0, 19)}${printFraction(fraction)}${printOffset(time.offsetSeconds)}`
}

function printOffset(seconds: number): string {
  if (seconds === 0) return 'Z'
  const minutes = Math.abs(seconds) / 60
  const two = (number: number) => String(Math.floor(number)).padStart(2, '0')
  return `${seconds < 0 ? '-' : '+'}${two(minutes / 60)}:${two(minutes % 60)}`
}

/** The whole seconds since 1970, rounded down. */
export function unixSeconds(time: Timestamp): bigint {
  const rest = ((time.ns % nsPerSecond) + nsPerSecond) % nsPerSecond
  return (time.ns - rest) / nsPerSecond
}

const zonesMax = 64
const fixedOffset = /^([+-]?)(\d{1,2}):(\d\d)$/

/** The local time of a zone, as the UTC fields of a `Date`; an error for an unknown zone. */
export function inZone(meter: Meter, time: Timestamp, zone: string): Date | CelError {
  const ms = Number(floorMs(time.ns))
  if (zone === '' || zone === 'UTC') return new Date(ms)
  const fixed = fixedOffset.exec(zone)
  if (fixed !== null) {
    const [, sign, hours, minutes] = fixed
    return new Date(ms + (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000)
  }
  const format = formatOf(zone)
  if (format === undefined) return new CelError(`unknown time zone ${zone}`)
  return new Date(wallClock(meter, format, ms))
}

function floorMs(ns: bigint): bigint {
  const rest = ((ns % 1_000_000n) + 1_000_000n) % 1_000_000n
  return (ns - rest) / 1_000_000n
}

/** The calendar and clock of a zone; undefined for an unknown zone. */
const formatOf = boundedMemo(zonesMax, (zone: string): Intl.DateTimeFormat | undefined => {
  if (!/^[A-Za-z][A-Za-z0-9_+\-/]*$/.test(zone)) return undefined
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      calendar: 'gregory',
      hourCycle: 'h23',
      era: 'short',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
  } catch {
    return undefined
  }
})

/** The work of loading a time zone, in steps. */
const zoneSteps = 4_000

function wallClock(meter: Meter, format: Intl.DateTimeFormat, ms: number): number {
  meter.addWork(zoneSteps)
  const fields: Record<string, string> = {}
  for (const { type, value } of format.formatToParts(new Date(ms))) fields[type] = value
  const year = Number(fields['year'])
  const date = new Date(0)
  date.setUTCFullYear(fields['era'] === 'BC' ? 1 - year : year, Number(fields['month']) - 1, Number(fields['day']))
  date.setUTCHours(Number(fields['hour']), Number(fields['minute']), Number(fields['second']), ((ms % 1000) + 1000) % 1000)
  return date.getTime()
}
