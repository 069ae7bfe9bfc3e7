const secondMs = 1000
const minuteMs = 60 * secondMs
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs
const yearMs = 365 * dayMs

/** The text for an unknown time. */
export const unknownAge = '<unknown>'

/**
 * Prints an age with at most two units, and fewer for longer ages.
 *
 *   119s   2m   9m59s   179m   7h59m   47h   7d23h   729d   7y364d   8y
 *
 * An age below minus one second is `<invalid>`.
 */
export function printAge(spanMs: number): string {
  const seconds = Math.trunc(spanMs / secondMs)
  if (seconds < -1) return '<invalid>'
  if (seconds < 0) return '0s'
  if (seconds < 120) return `${seconds}s`
  if (spanMs < 10 * minuteMs) return twoUnits(spanMs, { unit: 'm', unitMs: minuteMs, smaller: 's', smallerMs: secondMs })
  if (spanMs < 180 * minuteMs) return `${Math.trunc(spanMs / minuteMs)}m`
  if (spanMs < 8 * hourMs) return twoUnits(spanMs, { unit: 'h', unitMs: hourMs, smaller: 'm', smallerMs: minuteMs })
  if (spanMs < 48 * hourMs) return `${Math.trunc(spanMs / hourMs)}h`
  if (spanMs < 8 * dayMs) return twoUnits(spanMs, { unit: 'd', unitMs: dayMs, smaller: 'h', smallerMs: hourMs })
  if (spanMs < 2 * yearMs) return `${Math.trunc(spanMs / dayMs)}d`
  if (spanMs < 8 * yearMs) return twoUnits(spanMs, { unit: 'y', unitMs: yearMs, smaller: 'd', smallerMs: dayMs })
  return `${Math.trunc(spanMs / yearMs)}y`
}

interface TwoUnits {
  readonly unit: string
  readonly unitMs: number
  readonly smaller: string
  readonly smallerMs: number
}

function twoUnits(spanMs: number, { unit, unitMs, smaller, smallerMs }: TwoUnits): string {
  const rest = Math.trunc((spanMs % unitMs) / smallerMs)
  return `${Math.trunc(spanMs / unitMs)}${unit}${rest === 0 ? '' : `${rest}${smaller}`}`
}
