import type { Node } from '../description/node.ts'
import type { LevelText } from '../meta/level-text.ts'
import { goValue, jsonSince } from '../schema/go-value.ts'

/** Number of unchanged lines before and after the change. */
const contextLines = 3

/**
 * A text after the message about an immutable part: empty before 1.34, since then a line break and a unified diff of
 * the JSON of both values. Everything from the first to the last changed line is one hunk.
 *
 *   {a: 1, b: 2} → {a: 1, b: 3}:   @@ -1,4 +1,4 @@
 */
export function differenceOf(node: Node, before: unknown, after: unknown): LevelText {
  return (level) => {
    if (level < jsonSince) return ''
    const [left, right] = [before, after].map((value) => indentedLines(goValue(node, value).textAt(level)))
    return `\n${unifiedDifference(left ?? [], right ?? [])}`
  }
}

function unifiedDifference(before: readonly string[], after: readonly string[]): string {
  const shared = Math.min(before.length, after.length)
  let start = 0
  while (start < shared && before[start] === after[start]) start += 1
  let end = 0
  while (end < shared - start && before.at(-1 - end) === after.at(-1 - end)) end += 1
  const first = Math.max(0, start - contextLines)
  const rest = Math.min(end, contextLines)
  const lines = [
    `@@ -${rangeText(first, before.length - end + rest)} +${rangeText(first, after.length - end + rest)} @@`,
    ...before.slice(first, start).map((line) => ` ${line}`),
    ...before.slice(start, before.length - end).map((line) => `-${line}`),
    ...after.slice(start, after.length - end).map((line) => `+${line}`),
    ...before.slice(before.length - end, before.length - end + rest).map((line) => ` ${line}`),
  ]
  return `${lines.join('\n')}\n`
}

/** Line numbers begin at 1. */
function rangeText(start: number, end: number): string {
  const count = end - start
  if (count === 1) return String(start + 1)
  return count === 0 ? `${start},0` : `${start + 1},${count}`
}

const tokenPattern = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s"{}[\],:]+/g

/** JSON with a line per member or item, indented by one space per level. */
function indentedLines(json: string): string[] {
  const tokens = json.match(tokenPattern) ?? []
  const lines: string[] = []
  let [line, depth] = ['', 0]
  const breakLine = (): void => {
    lines.push(line)
    line = ' '.repeat(depth)
  }
  for (const [index, token] of tokens.entries()) {
    const isEmpty = tokens[index + 1] === '}' || tokens[index + 1] === ']'
    if (token === '{' || token === '[') {
      line += token
      depth += 1
      if (!isEmpty) breakLine()
    } else if (token === '}' || token === ']') {
      depth -= 1
      const isOpened = tokens[index - 1] === '{' || tokens[index - 1] === '['
      if (!isOpened) breakLine()
      line += token
    } else if (token === ',') {
      line += token
      breakLine()
    } else line += token === ':' ? ': ' : token
  }
  lines.push(line)
  return lines
}
