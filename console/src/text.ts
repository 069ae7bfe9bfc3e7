/** Shortens users that are service accounts to the account's name: `deployment-controller`. */
export function shortUser(user: string): string {
  return user.replace(/^system:serviceaccount:[^:]*:/, '')
}

/** The first few texts, and the number of the remaining ones. */
export function firstOf(texts: readonly string[], max: number): string {
  const more = texts.length - max
  return more > 0 ? `${texts.slice(0, max).join(', ')} and ${more} more` : texts.join(', ')
}

/** The local time of day with milliseconds: `11:02:42.303`. */
export function timeOfDay(time: string | number): string {
  const date = new Date(time)
  return `${date.toLocaleTimeString('en-GB')}.${String(date.getMilliseconds()).padStart(3, '0')}`
}

/** The local date and time: `2026-11-29 11:02:42`. */
export function dayAndTime(time: string | number): string {
  return new Date(time).toLocaleString('sv')
}

/** A number with its noun: `1 change`, `2,000 changes`. */
export function counted(number: number, noun: string): string {
  return `${number.toLocaleString('en')} ${noun}${number === 1 ? '' : 's'}`
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Decodes base64. It uses a loop, because an iterator over a large file would block the page for a quarter of a second. */
export function decodeBase64(base64: string): Uint8Array<ArrayBuffer> {
  const binary = atob(base64)
  const bytes = new Uint8Array(binary.length)
  for (let index = 0; index < binary.length; index++) bytes[index] = binary.charCodeAt(index)
  return bytes
}
