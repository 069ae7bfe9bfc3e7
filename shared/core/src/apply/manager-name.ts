/** The longest name of a manager, in bytes. */
const managerBytesMax = 128

/** Manager of a write that names none: the program's name in the user agent, `unknown` where there is no such thing. */
export function managerOfUserAgent(userAgent: string | undefined): string {
  const [program = ''] = (userAgent ?? '').split('/', 1)
  // What nearly all of them are needs no look at each character.
  if (/^[ -~]*$/.test(program)) return program.slice(0, managerBytesMax) || 'unknown'
  const encoder = new TextEncoder()
  let name = ''
  let bytes = 0
  for (const character of program) {
    if (!/[\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.test(character)) continue
    bytes += encoder.encode(character).length
    if (bytes > managerBytesMax) break
    name += character
  }
  return name === '' ? 'unknown' : name
}
