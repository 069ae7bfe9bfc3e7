/** An error in an expression, at a UTF-16 offset of its text; undefined for an error of the whole text. */
export interface Issue {
  readonly offset: number | undefined
  readonly message: string
}

/** Maximum number of reported issues per expression. */
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
  const printed = new Map<number, Line>()
  return [...issues]
    .sort((a, b) => (a.offset ?? -1) - (b.offset ?? -1))
    .map(({ offset, message }) => {
      if (offset === undefined) return `ERROR: <input>:-1:0: ${message}`
      const number = lineAt(offset, starts)
      const line = printed.get(number) ?? lineOf(lines[number] ?? '', number)
      printed.set(number, line)
      // An empty text has no first column.
      return printIssue(text === '' ? -1 : offset - (starts[number] ?? 0), message, line)
    })
    .join('\n')
}

/** A line of the text for messages. Each issue shows its whole line, which may be long. */
interface Line {
  readonly number: number
  readonly content: string
  readonly shown: string
  /** A dot for each code point; undefined if every code point is one byte. */
  readonly dots: string | undefined
}

function lineOf(content: string, number: number): Line {
  const dots = /[^\0-\x7f]/.test(content) ? Array.from(content, (unit) => (isWide(unit) ? '．' : '.')).join('') : undefined
  return { number, content, shown: content.replaceAll('\t', ' '), dots }
}

function printIssue(offset: number, message: string, { number, content, shown, dots }: Line): string {
  const end = Math.min(offset, content.length)
  const column = dots === undefined ? end : codePointsBefore(content, end)
  const position = `ERROR: <input>:${number + 1}:${column + 1}: ${message}`
  if (content === '') return position
  const caret = isWide(content.slice(end, end + 2)) ? '＾' : '^'
  return `${position}\n | ${shown}\n | ${dots === undefined ? '.'.repeat(end) : dots.slice(0, column)}${caret}`
}

function codePointsBefore(text: string, end: number): number {
  let count = 0
  for (let index = 0; index < end; index += 1) {
    count += 1
    if ((text.codePointAt(index) ?? 0) > 0xffff) index += 1
  }
  return count
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

/** True if a text begins with a character of more than one byte, which cel-go marks with a wide dot. */
function isWide(text: string): boolean {
  return (text.codePointAt(0) ?? 0) > 127
}

/** Maximum number of code points in an expression. */
export const codePointsMax = 100_000

/** The error of a text with too many code points. */
export function checkSize(text: string): Issue | undefined {
  const size = text.length > codePointsMax ? [...text].length : text.length
  if (size <= codePointsMax) return undefined
  return { offset: undefined, message: `expression code point size exceeds limit: size: ${size}, limit ${codePointsMax}` }
}
