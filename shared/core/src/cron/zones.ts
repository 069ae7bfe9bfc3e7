import { boundedMemo } from '../memo.ts'

/** The error of a time zone's name; undefined for none. */
export function findZoneProblem(name: string): string | undefined {
  if (isUtc(name)) return undefined
  if (name.includes('..') || /^[\\/]/.test(name)) return 'time: invalid location name'
  return isTimeZone(name) ? undefined : `unknown time zone ${name}`
}

/** True for names of UTC, which is also the server's time zone. */
function isUtc(name: string): boolean {
  return name === '' || name === 'UTC' || name === 'Local'
}

/** Zone names are file names and case-sensitive; `Intl` also accepts other cases, and offsets such as `+01:00`. */
function isTimeZone(name: string): boolean {
  if (!name.split('/').every((part) => /^[A-Z]/.test(part))) return false
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}

/** Maximum number of zones in use at once. */
const formatsMax = 100

/** Formats whose offset reads as `GMT+05:45`, or `GMT` for no offset. */
const formatOf = boundedMemo(
  formatsMax,
  (zone: string) => new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'longOffset', hourCycle: 'h23' }),
)

/**
 * Local time minus UTC at a moment, in milliseconds. The zone must be known.
 *
 *   offsetMs('Europe/Berlin', Date.UTC(2026, 6, 1)) → 7_200_000
 */
export function offsetMs(zone: string, timeMs: number): number {
  if (isUtc(zone) || zone === 'Etc/UTC') return 0
  const text = formatOf(zone)
    .formatToParts(timeMs)
    .find(({ type }) => type === 'timeZoneName')?.value
  const [, sign, hours = '0', minutes = '0', seconds = '0'] = /([+-])(\d\d):(\d\d)(?::(\d\d))?$/.exec(text ?? '') ?? []
  const offset = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000
  return sign === '-' ? -offset : offset
}

/** Local time at a moment, with its fields as the UTC fields of a Date. */
export function toLocal(zone: string, timeMs: number): Date {
  return new Date(timeMs + offsetMs(zone, timeMs))
}

/**
 * The moment of a local time, given as if it were UTC. A local time that a clock change skips is moved by the change; of two moments with
 * the same local time, the result is the one with the offset in force at the same time in UTC, or else the earlier offset.
 */
export function fromLocal(zone: string, localMs: number): number {
  const guess = localMs - offsetMs(zone, localMs)
  return localMs - offsetMs(zone, guess)
}
