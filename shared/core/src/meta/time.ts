import { boundedMemo } from '../memo.ts'

/** A moment with nanosecond precision: seconds since 1970 in UTC, and nanoseconds within that second. */
export interface Instant {
  readonly seconds: number
  readonly nanoseconds: number
}

const pattern = /^(\d{4}-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d))(?:[.,](\d+))?(Z|([-+])([01]\d|2[0-3]):([0-5]\d))$/

/** Parses RFC 3339 with any offset and any number of fractional digits; undefined if invalid. */
export function parseInstant(text: string): Instant | undefined {
  const match = pattern.exec(text)
  if (match === null) return undefined
  const [, local = '', , , , , , fraction = '', , sign, hours, minutes] = match
  const milliseconds = Date.parse(`${local}Z`)
  // `Date` turns the 31st of April into the 1st of May, which the text does not mean.
  if (Number.isNaN(milliseconds) || new Date(milliseconds).toISOString().slice(0, 19) !== local) return undefined
  const offset = sign === undefined ? 0 : (Number(hours) * 3600 + Number(minutes) * 60) * (sign === '-' ? -1 : 1)
  const seconds = milliseconds / 1000 - offset
  if (seconds < secondsMin || seconds > secondsMax) return undefined
  return { seconds, nanoseconds: Number(fraction.padEnd(9, '0').slice(0, 9)) }
}

/** The range of years with four digits. */
const secondsMin = Date.parse('0000-01-01T00:00:00Z') / 1000
const secondsMax = Date.parse('9999-12-31T23:59:59Z') / 1000

/** META-20: prints a Time as the API does: UTC, whole seconds. */
export function printTime({ seconds }: Instant): string {
  return printSeconds(seconds)
}

/** Cached, because a write prints the current second several times. */
const printSeconds = boundedMemo(64, (seconds: number): string => `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`)

/** Prints a MicroTime as the API does: UTC, six fractional digits. */
export function printMicroTime(instant: Instant): string {
  const microseconds = Math.floor(instant.nanoseconds / 1000)
  return `${printTime(instant).slice(0, -1)}.${String(microseconds).padStart(6, '0')}Z`
}

/** The instant of milliseconds since 1970. */
export function toInstant(milliseconds: number): Instant {
  const seconds = Math.floor(milliseconds / 1000)
  return { seconds, nanoseconds: Math.floor((milliseconds - seconds * 1000) * 1_000_000) }
}
