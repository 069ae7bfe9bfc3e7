/** Users that are service accounts without their namespace: `deployment-controller`. */
export function shortUser(user: string): string {
  return user.replace(/^system:serviceaccount:[^:]*:/, '')
}

/** The first of some texts, and how many more there are. */
export function firstOf(texts: readonly string[], max: number): string {
  const more = texts.length - max
  return more > 0 ? `${texts.slice(0, max).join(', ')} and ${more} more` : texts.join(', ')
}

/** The time of day, with milliseconds: `11:02:42.303`, of the zone of the browser. */
export function timeOfDay(time: string | number): string {
  const date = new Date(time)
  return `${date.toLocaleTimeString('en-GB')}.${String(date.getMilliseconds()).padStart(3, '0')}`
}

/** The message of a failure. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** The bytes of base64. A loop, as an iterator over the characters of a large file would hold the page for a quarter of a second. */
export function decodeBase64(base64: string): Uint8Array<ArrayBuffer> {
  const binary = atob(base64)
  const bytes = new Uint8Array(binary.length)
  for (let index = 0; index < binary.length; index++) bytes[index] = binary.charCodeAt(index)
  return bytes
}
