/**
 * JSON text with two spaces per level. It works on the text and never reads values, so that large integers stay exact.
 *
 *   {"a":[1,2],"b":{}}   →   {
 *                              "a": [
 *                                1,
 *                                2
 *                              ],
 *                              "b": {}
 *                            }
 */
export function prettyJson(text: string): string {
  const parts: string[] = []
  let depth = 0
  let from = 0
  const breakLine = () => parts.push('\n', '  '.repeat(Math.min(depth, indentedDepthMax)))
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at)
    if (character === '"') {
      at = endOfString(text, at)
      continue
    }
    if (!'{}[],:'.includes(character)) continue
    parts.push(text.slice(from, at))
    from = at + 1
    if (character === ':') parts.push(': ')
    else if (character === ',') {
      parts.push(',')
      breakLine()
    } else if (character === '{' || character === '[') {
      parts.push(character)
      const closing = character === '{' ? '}' : ']'
      if (text[at + 1] === closing) {
        parts.push(closing)
        at += 1
        from = at + 1
        continue
      }
      depth += 1
      breakLine()
    } else {
      depth -= 1
      breakLine()
      parts.push(character)
    }
  }
  parts.push(text.slice(from))
  return parts.join('')
}

/** Deeper levels are indented like this one: otherwise a body of deeply nested numbers would become gigabytes of spaces. */
const indentedDepthMax = 32

/** The end of the string that opens at `start`. */
function endOfString(text: string, start: number): number {
  let at = start + 1
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  return at
}
