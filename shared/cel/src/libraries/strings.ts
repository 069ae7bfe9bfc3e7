import { type Implementation, type Implementations, metered, of, onText } from '../implementation.ts'
import { escapes } from '../quote.ts'
import { isList, itemsOf } from '../values/collections.ts'
import type { Meter } from '../values/meter.ts'
import { CelError, isInt, noSuchOverload, type Value } from '../values/values.ts'

/** The code points of a text; the text itself if every code point is one UTF-16 unit. */
type Points = string | readonly string[]

function pointsOf(meter: Meter, text: string): Points {
  return meter.isFlat(text) ? text : meter.codePointsOf(text)
}

function part(points: Points, start: number, end?: number): string {
  const cut = points.slice(start, end)
  return typeof cut === 'string' ? cut : cut.join('')
}

function outOfRange(index: Value): CelError {
  return new CelError(`index out of range: ${String(index)}`)
}

/** `text.charAt(index)`: the empty text at the end. */
function charAt(meter: Meter, text: Value, index: Value): Value {
  if (typeof text !== 'string' || !isInt(index)) return noSuchOverload()
  const points = pointsOf(meter, text)
  const at = Number(index)
  if (at < 0 || at > points.length) return outOfRange(index)
  return points[at] ?? ''
}

/** `text.indexOf(part, from?)` in code points. */
export function indexOfText(meter: Meter, text: string, sought: string, from: Value = 0): Value {
  if (!isInt(from)) return noSuchOverload()
  const size = meter.codePointCount(text)
  const start = Number(from)
  if (start < 0 || start > size) return sought === '' && start >= 0 && start === size ? from : outOfRange(from)
  if (sought === '') return start
  const flat = size === text.length
  const at = text.indexOf(sought, flat ? start : unitIndex(text, start))
  return at < 0 ? -1 : flat ? at : meter.codePointCount(text.slice(0, at))
}

/** `text.lastIndexOf(part, from?)` in code points. */
export function lastIndexOfText(meter: Meter, text: string, sought: string, from?: Value): Value {
  const size = meter.codePointCount(text)
  if (from === undefined) {
    if (sought === '') return size
    const at = text.lastIndexOf(sought)
    return at < 0 ? -1 : meter.codePointCount(text.slice(0, at))
  }
  if (!isInt(from)) return noSuchOverload()
  const start = Number(from)
  if (start < 0 || start > size) return outOfRange(from)
  if (sought === '') return start
  const at = text.lastIndexOf(sought, size === text.length ? start : unitIndex(text, start))
  return at < 0 ? -1 : meter.codePointCount(text.slice(0, at))
}

function unitIndex(text: string, points: number): number {
  let unit = 0
  for (let count = 0; count < points; count++) unit += (text.codePointAt(unit) ?? 0) > 0xffff ? 2 : 1
  return unit
}

/** `text.substring(start, end?)` in code points. */
function substring(meter: Meter, text: Value, start: Value, end?: Value): Value {
  if (typeof text !== 'string' || !isInt(start)) return noSuchOverload()
  const points = pointsOf(meter, text)
  const from = Number(start)
  if (end === undefined) return from < 0 || from > points.length ? outOfRange(start) : part(points, from)
  if (!isInt(end)) return noSuchOverload()
  const to = Number(end)
  if (from > to) return new CelError(`invalid substring range. start: ${from}, end: ${to}`)
  if (from < 0 || from > points.length) return outOfRange(start)
  return to > points.length ? outOfRange(end) : part(points, from, to)
}

/** Maximum length of a result. A longer text would take more time and memory than its cost pays for. */
const replacedMax = 16_777_216

function grown(text: string, old: string, replacement: string): number {
  const places = old === '' ? text.length + 1 : text.split(old).length - 1
  return text.length + places * replacement.length
}

/** `text.replace(old, new, limit?)`. */
function replace(meter: Meter, ...[text, old, replacement, limit]: readonly Value[]): Value {
  if (typeof text !== 'string' || typeof old !== 'string' || typeof replacement !== 'string') return noSuchOverload()
  if (text.length * replacement.length > replacedMax && grown(text, old, replacement) > replacedMax) {
    return new CelError(`replace would make a text of more than ${replacedMax} characters`)
  }
  meter.addTextWork(replacement.length < old.length ? text.length : Math.min(replacedMax, grown(text, old, replacement)))
  if (limit === undefined) return old === '' ? aroundEach(text, replacement, -1) : text.split(old).join(replacement)
  if (!isInt(limit)) return noSuchOverload()
  const most = Number(limit)
  if (most === 0) return text
  if (most < 0) return replace(meter, text, old, replacement)
  if (old === '') return aroundEach(text, replacement, most)
  const parts: string[] = []
  let from = 0
  for (let count = 0; count < most; count++) {
    const at = text.indexOf(old, from)
    if (at < 0) break
    parts.push(text.slice(from, at))
    from = at + old.length
  }
  return [...parts, text.slice(from)].join(replacement)
}

function aroundEach(text: string, replacement: string, limit: number): string {
  const points = [...text]
  const count = limit < 0 ? points.length + 1 : Math.min(limit, points.length + 1)
  let made = ''
  for (const [index, point] of points.entries()) made += index < count ? replacement + point : point
  return count > points.length ? made + replacement : made
}

/** `text.split(separator, limit?)`. */
function split(text: Value, separator: Value, limit?: Value): Value {
  if (typeof text !== 'string' || typeof separator !== 'string') return noSuchOverload()
  const parts = separator === '' ? [...text] : text.split(separator)
  if (limit === undefined) return parts
  if (!isInt(limit)) return noSuchOverload()
  const most = Number(limit)
  if (most === 0) return []
  if (most < 0 || parts.length <= most) return parts
  return [...parts.slice(0, most - 1), parts.slice(most - 1).join(separator)]
}

/** `list.join(separator?)`. */
function join(meter: Meter, list: Value, separator: Value = ''): Value {
  if (!isList(list) || typeof separator !== 'string') return noSuchOverload()
  const items = itemsOf(meter, list)
  let characters = separator.length * items.length
  for (const item of items) {
    if (typeof item !== 'string') return noSuchOverload()
    characters += item.length
  }
  meter.addTextWork(characters)
  return items.join(separator)
}

const space = '[\\t\\n\\v\\f\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]'
const isSpace = new RegExp(`^${space}$`)

/** `text.trim()`: removes Unicode's white space. */
function trim(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && isSpace.test(text[start] ?? '')) start++
  while (end > start && isSpace.test(text[end - 1] ?? '')) end--
  return text.slice(start, end)
}

/** `text.reverse()` by code points. */
export function reverseText(meter: Meter, text: string): string {
  return meter.isFlat(text) ? text.split('').reverse().join('') : [...text].reverse().join('')
}

function onTexts(decide: (text: string, part: string) => boolean): Implementation {
  return of(2, (text, part) => (typeof text === 'string' && typeof part === 'string' ? decide(text, part) : noSuchOverload()))
}

/** The functions of texts alone. */
export const textFunctions: Implementations = {
  contains: onTexts((text, part) => text.includes(part)),
  startsWith: onTexts((text, part) => text.startsWith(part)),
  endsWith: onTexts((text, part) => text.endsWith(part)),
  charAt: metered(2, charAt),
  join: metered([1, 2], join),
  // Letters beyond ASCII stay.
  lowerAscii: onText((text) => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())),
  upperAscii: onText((text) => text.replace(/[a-z]+/g, (letters) => letters.toUpperCase())),
  replace: metered([3, 4], replace),
  split: of([2, 3], split),
  substring: metered([2, 3], substring),
  trim: onText(trim),
  'strings.quote': onText((text) => `"${text.toWellFormed().replace(/[\u0007\b\f\n\r\t\v\\"]/g, (unit) => escapes[unit] ?? unit)}"`),
  'jsonpatch.escapeKey': onText((text) => text.replaceAll('~', '~0').replaceAll('/', '~1')),
}
