import { isJsonObject } from '@orch/core/json'
/** One line of an object's YAML, with the path of its value. */
export interface YamlLine {
  readonly text: string
  /** Names of members and indexes of items, from the root. */
  readonly path: readonly (string | number)[]
}

/** Prints a JSON value as YAML lines. Members keep their order. */
export function yamlLines(value: unknown): YamlLine[] {
  const lines: YamlLine[] = []
  printInto(lines, value, { path: [], indent: '', lead: '' })
  return lines
}

interface Place {
  readonly path: readonly (string | number)[]
  readonly indent: string
  /** Text before the value in its line: `name: ` or `- `. */
  readonly lead: string
}

function printInto(lines: YamlLine[], value: unknown, { path, indent, lead }: Place): void {
  if (Array.isArray(value) && value.length > 0) {
    const isItem = lead.endsWith('- ')
    if (lead !== '' && !isItem) lines.push({ text: lead.trimEnd(), path })
    const inner = isItem ? `${indent}  ` : indent
    value.forEach((item, index) => {
      printInto(lines, item, { path: [...path, index], indent: inner, lead: isItem && index === 0 ? `${lead}- ` : `${inner}- ` })
    })
    return
  }
  if (isJsonObject(value) && Object.keys(value).length > 0) {
    const isItem = lead.endsWith('- ')
    if (lead !== '' && !isItem) lines.push({ text: lead.trimEnd(), path })
    const inner = lead === '' ? indent : `${indent}  `
    Object.entries(value).forEach(([name, member], index) => {
      const front = isItem && index === 0 ? lead : inner
      printInto(lines, member, { path: [...path, name], indent: inner, lead: `${front}${scalar(name)}: ` })
    })
    return
  }
  if (typeof value === 'string' && value.includes('\n') && value.search(hidden) < 0) {
    lines.push({ text: `${lead}|${value.endsWith('\n') ? '' : '-'}`, path })
    for (const line of value.replace(/\n$/, '').split('\n')) lines.push({ text: `${indent}  ${line}`, path })
    return
  }
  lines.push({ text: lead + (typeof value === 'string' ? scalar(value) : JSON.stringify(value)), path })
}

/** Invisible characters, and those that change the direction of text: they could disguise a name. */
const hidden = /[\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g

/** Quotes a text that YAML would read as another value. */
function scalar(text: string): string {
  const isPlain =
    /^[A-Za-z_./][\w./@+-]*(?:[ :][\w./@+-]+)*$/.test(text) && !/^(?:true|false|null|yes|no|on|off|y|n|~|\.(?:inf|nan))$/i.test(text)
  if (isPlain) return text
  return JSON.stringify(text).replace(hidden, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** Maximum displayed characters of a line: a browser takes seconds to lay out a line of a megabyte. */
const shownMax = 2_000

/** The displayed text of a line. */
export function shownText(text: string): string {
  return text.length <= shownMax ? text : `${text.slice(0, shownMax)} … ${(text.length - shownMax).toLocaleString('en')} more characters`
}

/** A line of a comparison. */
export interface DiffLine {
  readonly kind: 'same' | 'added' | 'removed'
  readonly text: string
}

/** Maximum number of differing lines. Beyond it, all lines count as removed and added. */
const differencesMax = 1_000

/** Compares texts line by line. */
export function diffLines(before: readonly string[], after: readonly string[]): DiffLine[] {
  const length = Math.min(before.length, after.length)
  let start = 0
  while (start < length && before[start] === after[start]) start++
  let end = 0
  while (end < length - start && before.at(-1 - end) === after.at(-1 - end)) end++
  const same = (lines: readonly string[]) => lines.map((text): DiffLine => ({ kind: 'same', text }))
  const middle = diffMiddle(before.slice(start, before.length - end), after.slice(start, after.length - end))
  return [...same(before.slice(0, start)), ...middle, ...same(before.slice(before.length - end))]
}

/**
 * Compares texts with the fewest differences (Myers). Each round allows one more difference. `reached[k]` is the furthest position in `before` on the
 * diagonal k, where k more lines were taken from `before` than from `after`.
 */
function diffMiddle(before: readonly string[], after: readonly string[]): DiffLine[] {
  const rounds: Map<number, number>[] = []
  let reached = new Map([[1, 0]])
  for (let differences = 0; differences <= differencesMax; differences++) {
    const next = new Map<number, number>()
    for (let diagonal = -differences; diagonal <= differences; diagonal += 2) {
      const [fromAbove, fromLeft] = [reached.get(diagonal + 1) ?? -1, (reached.get(diagonal - 1) ?? -1) + 1]
      let place = Math.max(fromAbove, fromLeft)
      while (place < before.length && place - diagonal < after.length && before[place] === after[place - diagonal]) place++
      next.set(diagonal, place)
      if (place >= before.length && place - diagonal >= after.length) return walkBack([...rounds, reached], before, after)
    }
    rounds.push(reached)
    reached = next
  }
  return [...before.map((text): DiffLine => ({ kind: 'removed', text })), ...after.map((text): DiffLine => ({ kind: 'added', text }))]
}

/** Reconstructs the lines of a comparison from the end; each round adds one differing line. */
function walkBack(rounds: readonly ReadonlyMap<number, number>[], before: readonly string[], after: readonly string[]): DiffLine[] {
  const lines: DiffLine[] = []
  let [left, right] = [before.length, after.length]
  for (let round = rounds.length - 1; round >= 0; round--) {
    const diagonal = left - right
    const [fromAbove, fromLeft] = [rounds[round]?.get(diagonal + 1) ?? -1, (rounds[round]?.get(diagonal - 1) ?? -1) + 1]
    const start = Math.max(fromAbove, fromLeft)
    for (; left > start && right > start - diagonal; left--, right--) lines.push({ kind: 'same', text: before[left - 1] ?? '' })
    if (round === 0) break
    if (fromLeft > fromAbove) lines.push({ kind: 'removed', text: before[--left] ?? '' })
    else lines.push({ kind: 'added', text: after[--right] ?? '' })
  }
  return lines.reverse()
}

/** Number of unchanged lines shown around a change. */
const contextLines = 3

/** A displayed part of a comparison: lines, or the number of omitted lines. */
export type DiffPart = { readonly kind: 'lines'; readonly lines: readonly DiffLine[] } | { readonly kind: 'left'; readonly count: number }

/** Omits unchanged lines except some around each change. After `max` lines it omits the rest. */
export function diffParts(lines: readonly DiffLine[], max: number): DiffPart[] {
  const isNear = new Uint8Array(lines.length)
  lines.forEach(({ kind }, index) => {
    if (kind !== 'same') isNear.fill(1, Math.max(0, index - contextLines), index + contextLines + 1)
  })
  const parts: DiffPart[] = []
  let [shown, start] = [0, 0]
  while (start < lines.length) {
    let end = start
    while (end < lines.length && isNear[end] === isNear[start]) end++
    const room = isNear[start] === 1 ? Math.min(end - start, max - shown) : 0
    if (room > 0) parts.push({ kind: 'lines', lines: lines.slice(start, start + room) })
    const left = end - start - room
    const last = parts.at(-1)
    if (left > 0 && last?.kind === 'left') parts[parts.length - 1] = { kind: 'left', count: last.count + left }
    else if (left > 0) parts.push({ kind: 'left', count: left })
    shown += room
    start = end
  }
  return parts
}
