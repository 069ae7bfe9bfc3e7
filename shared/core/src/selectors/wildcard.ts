/**
 * Compiles a pattern in which `*` matches any characters, to a test in linear time.
 *
 *   'manager/*' matches 'manager/v1 (linux)'     'a*b*c' matches 'a-b-b-c'
 */
export function wildcard(pattern: string): (text: string) => boolean {
  const [first = '', ...rest] = pattern.split('*')
  const last = rest.pop()
  if (last === undefined) return (text) => text === pattern
  return (text) => {
    if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length) return false
    let at = first.length
    for (const part of rest) {
      const next = text.indexOf(part, at)
      if (next < 0) return false
      at = next + part.length
    }
    return at <= text.length - last.length
  }
}
