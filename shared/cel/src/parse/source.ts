/** Something wrong with an expression, at a UTF-16 offset of its text; undefined where it concerns the whole text. */
export interface Issue {
  readonly offset: number | undefined
  readonly message: string
}

/** Most issues that are reported about one expression. */
export const issuesMax = 100

/**
 * The issues as cel-go prints them, in the order of the text:
 *
 *   ERROR: <input>:1:6: undefined field 'x'
 *    | self.x
 *    | .....^
 */
export function printIssues(text: string, issues: readonly Issue[]): string {
  const lines = text.split('\n')
  const starts = lineStarts(lines)
  return [...issues]
    .sort((a, b) => (a.offset ?? -1) - (b.offset ?? -1))
    .map(({ offset, message }) => (offset === undefined ? `ERROR: <input>:-1:0: ${message}` : printIssue(offset, message, lines, starts)))
    .join('\n')
}

function printIssue(offset: number, message: string, lines: readonly string[], starts: readonly number[]): string {
  const line = lineAt(offset, starts)
  const content = lines[line] ?? ''
  const before = [...content.slice(0, offset - (starts[line] ?? 0))]
  const position = `ERROR: <input>:${line + 1}:${before.length + 1}: ${message}`
  if (content === '') return position
  const dots = before.map((unit) => (isWide(unit) ? '．' : '.')).join('')
  const caret = isWide(content.slice(before.join('').length)) ? '＾' : '^'
  return `${position}\n | ${content.replaceAll('\t', ' ')}\n | ${dots}${caret}`
}

function lineStarts(lines: readonly string[]): readonly number[] {
  let start = 0
  return lines.map(({ length }) => {
    const own = start
    start += length + 1
    return own
  })
}

function lineAt(offset: number, starts: readonly number[]): number {
  let low = 0
  let high = starts.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((starts[middle] ?? 0) <= offset) low = middle
    else high = middle - 1
  }
  return low
}

/** Whether a text begins with a character of more than one byte, which cel-go marks with a wide dot. */
function isWide(text: string): boolean {
  return (text.codePointAt(0) ?? 0) > 127
}
