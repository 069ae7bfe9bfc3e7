/** One line of an object as YAML, with the place of its value. */
export interface YamlLine {
  readonly text: string
  /** Members and numbers of items, from the root. */
  readonly path: readonly (string | number)[]
}

/** Prints a value of JSON as YAML, line by line. Members keep their order. */
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
  if (isMap(value) && Object.keys(value).length > 0) {
    const isItem = lead.endsWith('- ')
    if (lead !== '' && !isItem) lines.push({ text: lead.trimEnd(), path })
    const inner = lead === '' ? indent : `${indent}  `
    Object.entries(value).forEach(([name, member], index) => {
      const front = isItem && index === 0 ? lead : inner
      printInto(lines, member, { path: [...path, name], indent: inner, lead: `${front}${scalar(name)}: ` })
    })
    return
  }
  if (typeof value === 'string' && value.includes('\n')) {
    lines.push({ text: `${lead}|${value.endsWith('\n') ? '' : '-'}`, path })
    for (const line of value.replace(/\n$/, '').split('\n')) lines.push({ text: `${indent}  ${line}`, path })
    return
  }
  lines.push({ text: lead + (typeof value === 'string' ? scalar(value) : JSON.stringify(value)), path })
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Quoted where YAML would read another value than the text. */
function scalar(text: string): string {
  const isPlain =
    /^[A-Za-z_./][\w./@+-]*(?:[ :][\w./@+-]+)*$/.test(text) && !/^(?:true|false|null|yes|no|on|off|y|n|~|\.(?:inf|nan))$/i.test(text)
  return isPlain ? text : JSON.stringify(text)
}

/** Characters of a line that a page shows: a browser takes seconds to lay out a line of a megabyte. */
const shownMax = 2_000

/** The text of a line, as a page shows it. */
export function shownText(text: string): string {
  return text.length <= shownMax ? text : `${text.slice(0, shownMax)} … ${(text.length - shownMax).toLocaleString('en')} more characters`
}

/** A line of a comparison. */
export interface DiffLine {
  readonly kind: 'same' | 'added' | 'removed'
  readonly text: string
}

/** Lines that differ, between common beginnings and ends, that a comparison takes; more are shown as removed and added. */
const diffLinesMax = 1_500

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

/** Compares texts by their longest common part. */
function diffMiddle(before: readonly string[], after: readonly string[]): DiffLine[] {
  if (before.length > diffLinesMax || after.length > diffLinesMax) {
    return [...before.map((text): DiffLine => ({ kind: 'removed', text })), ...after.map((text): DiffLine => ({ kind: 'added', text }))]
  }
  const width = after.length + 1
  const common = new Uint16Array((before.length + 1) * width)
  for (let i = before.length - 1; i >= 0; i--)
    for (let j = after.length - 1; j >= 0; j--)
      common[i * width + j] =
        before[i] === after[j]
          ? (common[(i + 1) * width + j + 1] ?? 0) + 1
          : Math.max(common[(i + 1) * width + j] ?? 0, common[i * width + j + 1] ?? 0)
  const lines: DiffLine[] = []
  let [i, j] = [0, 0]
  while (i < before.length || j < after.length) {
    const [left, right] = [before[i], after[j]]
    if (left !== undefined && left === right) {
      lines.push({ kind: 'same', text: left })
      i++
      j++
    } else if (right !== undefined && (left === undefined || (common[i * width + j + 1] ?? 0) > (common[(i + 1) * width + j] ?? 0))) {
      lines.push({ kind: 'added', text: right })
      j++
    } else if (left !== undefined) {
      lines.push({ kind: 'removed', text: left })
      i++
    }
  }
  return lines
}

/** Lines of a comparison that a page shows around a change. */
const contextLines = 3

/** A part of a comparison, as a page shows it: some lines, or the number of those that are left out. */
export type DiffPart = { readonly kind: 'lines'; readonly lines: readonly DiffLine[] } | { readonly kind: 'left'; readonly count: number }

/** Leaves out lines that are the same, but for some around each change; of more changes than `max` lines the rest, too. */
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
    if (start + room < end) parts.push({ kind: 'left', count: end - start - room })
    shown += room
    start = end
  }
  return parts
}
