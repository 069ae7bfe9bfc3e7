import { boundedMemo } from '../memo.ts'

/** A moment, to the nanosecond: seconds since 1970 in UTC, and the nanoseconds after that second. */
export interface Instant {
  readonly seconds: number
  readonly nanoseconds: number
}

const pattern = /^(\d{4}-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d))(?:[.,](\d+))?(Z|([-+])([01]\d|2[0-3]):([0-5]\d))$/

/** The moment that an RFC 3339 text means, with any offset and any number of digits after the second; undefined: none. */
export function parseInstant(text: string): Instant | undefined {
  const match = pattern.exec(text)
  if (match === null) return undefined
  const [, local = '', , , , , , fraction = '', , sign, hours, minutes] = match
  const milliseconds = Date.parse(`${local}Z`)
  // `Date` rolls the 31st of April over into May; a text must not mean another day than it says.
  if (Number.isNaN(milliseconds) || new Date(milliseconds).toISOString().slice(0, 19) !== local) return undefined
  const offset = sign === undefined ? 0 : (Number(hours) * 3600 + Number(minutes) * 60) * (sign === '-' ? -1 : 1)
  const seconds = milliseconds / 1000 - offset
  if (seconds < secondsMin || seconds > secondsMax) return undefined
  return { seconds, nanoseconds: Number(fraction.padEnd(9, '0').slice(0, 9)) }
}

/** The years that four digits can say. */
const secondsMin = Date.parse('0000-01-01T00:00:00Z') / 1000
const secondsMax = Date.parse('9999-12-31T23:59:59Z') / 1000

/** META-20: how the API writes a Time: UTC, whole seconds. */
export function printTime({ seconds }: Instant): string {
  return printSeconds(seconds)
}

/** A write prints the present second several times. */
const printSeconds = boundedMemo(64, (seconds: number): string => `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`)

/** Prints a MicroTime as the API does: UTC, six digits after the second. */
export function printMicroTime(instant: Instant): string {
  const microseconds = Math.floor(instant.nanoseconds / 1000)
  return `${printTime(instant).slice(0, -1)}.${String(microseconds).padStart(6, '0')}Z`
}

/** The moment of a clock that counts milliseconds since 1970. */
export function toInstant(milliseconds: number): Instant {
  const seconds = Math.floor(milliseconds / 1000)
  return { seconds, nanoseconds: Math.floor((milliseconds - seconds * 1000) * 1_000_000) }
}
