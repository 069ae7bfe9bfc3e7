import type { Node } from '../description/node.ts'
import type { LevelText } from '../meta/level-text.ts'
import { goValue, jsonSince } from '../schema/go-value.ts'

const contextLines = 3

/**
 * The difference of two values of a type for a message, beginning with a new line: their JSON in the unified format with three lines of
 * context. All lines between the first and the last changed one are one hunk. Messages had no JSON before 1.34, and no difference here.
 */
export function differenceOf(node: Node, before: unknown, after: unknown): LevelText {
  return (level) => {
    if (level < jsonSince) return ''
    const [old, changed] = [before, after].map((value) => linesOf(goValue(node, value).textAt(level)))
    return `\n${hunkOf(old ?? [], changed ?? [])}`
  }
}

function linesOf(json: string): readonly string[] {
  return JSON.stringify(JSON.parse(json), null, 1).split('\n')
}

function hunkOf(before: readonly string[], after: readonly string[]): string {
  const least = Math.min(before.length, after.length)
  let start = 0
  while (start < least && before[start] === after[start]) start++
  let end = 0
  while (end < least - start && before.at(-1 - end) === after.at(-1 - end)) end++
  const from = Math.max(0, start - contextLines)
  const kept = Math.max(0, end - contextLines)
  const range = (lines: readonly string[]) => `${from + 1},${lines.length - kept - from}`
  const lines = [
    ...before.slice(from, start).map((line) => ` ${line}`),
    ...before.slice(start, before.length - end).map((line) => `-${line}`),
    ...after.slice(start, after.length - end).map((line) => `+${line}`),
    ...after.slice(after.length - end, after.length - kept).map((line) => ` ${line}`),
  ]
  return [`@@ -${range(before)} +${range(after)} @@`, ...lines, ''].join('\n')
}
