/** The longest name of a manager, in bytes. */
export const managerBytesMax = 128

/** Manager of a write that names none: the program's name in the user agent, `unknown` where there is no such thing. */
export function managerOfUserAgent(userAgent: string | undefined): string {
  const encoder = new TextEncoder()
  let name = ''
  let bytes = 0
  for (const character of (userAgent ?? '').split('/', 1)[0] ?? '') {
    if (!/[\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.test(character)) continue
    bytes += encoder.encode(character).length
    if (bytes > managerBytesMax) break
    name += character
  }
  return name === '' ? 'unknown' : name
}
