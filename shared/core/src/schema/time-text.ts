const rfc3339 = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:[.,](\d+))?(Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/

/** An RFC 3339 time as the API prints a Time: UTC, whole seconds. Undefined: not a time. */
export function canonicalTime(text: string): string | undefined {
  return wholeSeconds(text)
}

/** An RFC 3339 time as the API prints a MicroTime: UTC, six digits of a second. Undefined: not a time. */
export function canonicalMicroTime(text: string): string | undefined {
  const seconds = wholeSeconds(text)
  if (seconds === undefined) return undefined
  const fraction = (rfc3339.exec(text)?.[7] ?? '').padEnd(6, '0').slice(0, 6)
  return `${seconds.slice(0, -1)}.${fraction}Z`
}

function wholeSeconds(text: string): string | undefined {
  const parts = rfc3339.exec(text)
  if (parts === null || !isDate(parts)) return undefined
  const milliseconds = Date.parse(`${text.slice(0, 19)}${parts[8]}`)
  return Number.isNaN(milliseconds) ? undefined : `${new Date(milliseconds).toISOString().slice(0, 19)}Z`
}

/** `Date.parse` rolls the 31st of April over into May; a time must not mean another day than it says. */
function isDate([, year, month, day, hour, minute, second]: RegExpExecArray): boolean {
  const days = new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate()
  const isDay = Number(month) >= 1 && Number(month) <= 12 && Number(day) >= 1 && Number(day) <= days
  return isDay && Number(hour) < 24 && Number(minute) < 60 && Number(second) < 60
}
