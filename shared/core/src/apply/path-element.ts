import { decodeJson, isJsonObject, printJson } from '../json/index.ts'

/** One element of the path to a field. */
export type PathElement =
  | { readonly kind: 'field'; readonly name: string }
  | { readonly kind: 'key'; readonly keys: Readonly<Record<string, unknown>> }
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'index'; readonly index: number }

/**
 * The printed form of a path element in `fieldsV1`: `f:replicas`, `k:{"name":"web"}`, `v:"a"`, `i:0`. Sets are keyed by this text:
 * equal elements have equal texts, and different elements have different texts.
 */
export type ElementText = string

/** The text of a field. */
export function fieldElement(name: string): ElementText {
  return `f:${name}`
}

/** The text of an item of a list of type `map`. Keys must be sorted by name. */
export function keyElement(names: readonly string[], values: readonly unknown[]): ElementText {
  let text = 'k:{'
  for (let index = 0; index < names.length; index++) {
    text += `${index === 0 ? '' : ','}${JSON.stringify(names[index])}:${printScalar(values[index])}`
  }
  return `${text}}`
}

/** The text of an item of a list of type `set`. */
export function valueElement(value: unknown): ElementText {
  return `v:${printScalar(value)}`
}

/** The canonical text of a path element from a client. Undefined if it is malformed. */
export function canonicalElement(text: string): ElementText | undefined {
  if (text.startsWith('f:') || isPlainElement(text)) return text
  const element = parseElement(text)
  return element === undefined ? undefined : printElement(element)
}

/** Parses the text of a path element. */
export function parseElement(text: string): PathElement | undefined {
  const rest = text.slice(2)
  switch (text.slice(0, 2)) {
    case 'f:':
      return { kind: 'field', name: rest }
    case 'i:':
      return /^-?\d{1,15}$/.test(rest) ? { kind: 'index', index: Number(rest) } : undefined
    case 'v:': {
      const value = parseJson(rest)
      return value === undefined ? undefined : { kind: 'value', value }
    }
    case 'k:': {
      const keys = parseJson(rest)
      return isJsonObject(keys) ? { kind: 'key', keys } : undefined
    }
    default:
      return undefined
  }
}

/** Prints a path element as in `fieldsV1`. */
export function printElement(element: PathElement): ElementText {
  switch (element.kind) {
    case 'field':
      return fieldElement(element.name)
    case 'key': {
      const names = Object.keys(element.keys).sort(compareText)
      return keyElement(
        names,
        names.map((name) => element.keys[name]),
      )
    }
    case 'value':
      return valueElement(element.value)
    case 'index':
      return `i:${element.index}`
  }
}

/** A path element in the form of messages: `.replicas`, `[name="web"]`, `[="a"]`, `[0]`. */
export function describeElement(text: ElementText): string {
  const element = elementOf(text)
  switch (element.kind) {
    case 'field':
      return `.${element.name}`
    case 'key': {
      const names = Object.keys(element.keys).sort(compareText)
      return `[${names.map((name) => `${name}=${printJson(element.keys[name])}`).join(',')}]`
    }
    case 'value':
      return `[=${printJson(element.value)}]`
    case 'index':
      return `[${element.index}]`
  }
}

function elementOf(text: ElementText): PathElement {
  const element = parseElement(text)
  if (element === undefined) throw new Error(`not a path element: ${text}`)
  return element
}

const kinds: readonly PathElement['kind'][] = ['field', 'key', 'value', 'index']

/** Sorts path elements in place: fields by name, then keys, values and indices. The elements must be distinct. */
export function sortElements(elements: ElementText[]): ElementText[] {
  if (haveOrderOfTexts(elements)) return sortTexts(elements)
  const parsed = new Map(elements.map((text) => [text, elementOf(text)]))
  return elements.sort((left, right) => compareElements(parsed.get(left) as PathElement, parsed.get(right) as PathElement))
}

/** Matches an item that is a plain string or has a plain string as its only key. The first group precedes the string. */
const plainTextItem = /^(v:"|k:\{"[A-Za-z]+":")[\w./:-]*"\}?$/

/**
 * True if the order of the texts equals the order of the elements. This covers almost all lists: only fields, only plain strings, or only items
 * with one plain key. The closing quote sorts before all characters of a plain string, so a string sorts before longer strings that it begins.
 */
function haveOrderOfTexts(elements: readonly ElementText[]): boolean {
  const front = elements[0]?.startsWith('f:') ? 'f:' : plainTextItem.exec(elements[0] ?? '')?.[1]
  if (front === undefined) return false
  for (const element of elements) if (!element.startsWith(front) || (front !== 'f:' && !plainTextItem.test(element))) return false
  return true
}

/** Maximum length for an insertion sort; `Array.prototype.sort` is faster for longer lists, but copies them. */
const insertedMax = 24

function sortTexts(texts: string[]): string[] {
  if (texts.length > insertedMax) return texts.sort(compareText)
  for (let next = 1; next < texts.length; next++) {
    const text = texts[next]!
    let at = next
    for (; at > 0 && compareText(texts[at - 1]!, text) > 0; at--) texts[at] = texts[at - 1]!
    texts[at] = text
  }
  return texts
}

function compareElements(a: PathElement, b: PathElement): number {
  if (a.kind === 'field' && b.kind === 'field') return compareText(a.name, b.name)
  if (a.kind === 'key' && b.kind === 'key') return compareKeys(a.keys, b.keys)
  if (a.kind === 'value' && b.kind === 'value') return compareScalars(a.value, b.value)
  if (a.kind === 'index' && b.kind === 'index') return a.index - b.index
  return kinds.indexOf(a.kind) - kinds.indexOf(b.kind)
}

function compareKeys(left: Readonly<Record<string, unknown>>, right: Readonly<Record<string, unknown>>): number {
  const leftNames = Object.keys(left).sort(compareText)
  const rightNames = Object.keys(right).sort(compareText)
  for (let index = 0; index < Math.min(leftNames.length, rightNames.length); index++) {
    const a = leftNames[index]!
    const b = rightNames[index]!
    const order = compareText(a, b) || compareScalars(left[a], right[b])
    if (order !== 0) return order
  }
  return leftNames.length - rightNames.length
}

/** Numbers sort first, then strings, booleans and other values. */
function compareScalars(left: unknown, right: unknown): number {
  const rank = scalarRank(left) - scalarRank(right)
  if (rank !== 0) return rank
  if (typeof left === 'string' && typeof right === 'string') return compareText(left, right)
  const a = left as number | bigint | boolean
  const b = right as number | bigint | boolean
  return a < b ? -1 : a > b ? 1 : 0
}

function scalarRank(value: unknown): number {
  if (typeof value === 'number' || typeof value === 'bigint') return 0
  if (typeof value === 'string') return 1
  return typeof value === 'boolean' ? 2 : 3
}

/** Compares the UTF-8 bytes. JavaScript compares UTF-16 units, which differs only between surrogates and characters from U+E000 on. */
export function compareText(left: string, right: string): number {
  if (left === right) return 0
  const length = Math.min(left.length, right.length)
  for (let index = 0; index < length; index++) {
    const a = left.charCodeAt(index)
    const b = right.charCodeAt(index)
    if (a === b) continue
    const isHigh = a >= 0xd800 && b >= 0xd800
    return isHigh ? (left.codePointAt(index) as number) - (right.codePointAt(index) as number) : a - b
  }
  return left.length - right.length
}

const plainScalar = '(?:"[\\w./:-]*"|0|[1-9]\\d{0,14})'
const plainItem = new RegExp(`^(?:k:\\{"[A-Za-z]+":${plainScalar}\\}|v:"[\\w./:-]*")$`)
const plainPair = new RegExp(`^k:\\{"([A-Za-z]+)":${plainScalar},"([A-Za-z]+)":${plainScalar}\\}$`)

/** True for common elements that are canonical, so that they need no parsing. */
function isPlainElement(text: string): boolean {
  if (plainItem.test(text)) return true
  const pair = plainPair.exec(text)
  return pair !== null && pair[1]! < pair[2]!
}

/** Matches a whole escape sequence, so that an escaped backslash is not read twice, or a character that Go escapes for HTML. */
const special = /\\.|[<>&\u2028\u2029]/g

/** JSON in Go's form for `fieldsV1`: escaped for HTML, with numeric escapes for control characters. */
function printScalar(value: unknown): string {
  if (typeof value === 'string' && /^[\w./:-]*$/.test(value)) return `"${value}"`
  return printJson(value, { hasBigIntegers: true }).replace(special, escapeAgain)
}

function escapeAgain(found: string): string {
  if (found === '\\b') return '\\u0008'
  if (found === '\\f') return '\\u000c'
  return found.startsWith('\\') ? found : `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`
}

function parseJson(text: string): unknown {
  const decoded = decodeJson(text)
  return decoded.kind === 'json' ? decoded.value : undefined
}
