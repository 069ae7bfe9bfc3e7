import { ManifestError, parseManifests } from '@orch/client'
import { decodeJson, decodeOwnJson, itemSpans, memberSpan, memberStart, type Span } from '@orch/core/json'
import { parseRevision } from '@orch/core/meta'
import { parseYaml } from '@orch/core/yaml'
import type { LoadedObject } from '@orch/gateway'
import type { Pause } from '@orch/platform'
import { asObject, type DumpedObject, type ItemKind, itemKindOf, OversizeError, parsedObject, requireFewValues } from './dumped-object.ts'

/** Maximum bytes of one object, because it is parsed in one turn of the event loop. etcd stores 1.5 MiB; indentation adds to it. */
export const objectBytesMax = 4 * 1024 * 1024
/** Maximum number of objects in one file, and of YAML documents, which may be empty. Each object takes memory until the end of the load. */
const objectsMax = 1_000_000

function tooLarge(place: string): OversizeError {
  return new OversizeError(
    `${place}: an object has more than ${objectBytesMax} bytes, or the items of a List are not one below the other as kubectl prints them`,
  )
}

/** The objects of a JSON or YAML text, in order. A List or an array yields its items, which are parsed one at a time. */
export async function objectsOf(bytes: Buffer, file: string, pause: Pause): Promise<DumpedObject[]> {
  return /^\s*[{[]/.test(bytes.toString('latin1', 0, 1_000)) ? objectsOfJson(bytes, file, pause) : objectsOfYaml(bytes, file, pause)
}

async function objectsOfJson(bytes: Buffer, file: string, pause: Pause): Promise<DumpedObject[]> {
  const isArray = /^\s*\[/.test(bytes.toString('latin1', 0, 1_000))
  const start = isArray ? bytes.indexOf('[') : memberStart(bytes.subarray(0, objectBytesMax), 0, 'items')
  const list = start === undefined ? undefined : await itemsAt(bytes, start, { file, pause })
  const envelope = list === undefined ? parse(file, bytes) : parse(file, bytes.subarray(0, start), emptyList, bytes.subarray(list.end))
  const said = isArray ? {} : itemKindOf(envelope)
  if (said === undefined) return [parsedObject(asObject(list === undefined ? envelope : parse(file, bytes), file), file)]
  if (list === undefined) return []
  const found: DumpedObject[] = []
  for (const { start, end } of list.items) {
    await pause()
    found.push(objectOfJson(bytes.subarray(start, end), file, said))
  }
  return found
}

const emptyList = Buffer.from('[]')

/** The file of a text, and the pauses between the steps of its parsing. */
interface Reading {
  readonly file: string
  readonly pause: Pause
}

/** The items of an array, and its end; undefined if the text is not an array or is incomplete. */
async function itemsAt(
  bytes: Buffer,
  start: number,
  { file, pause }: Reading,
): Promise<{ readonly items: readonly Span[]; readonly end: number } | undefined> {
  if (bytes[start] !== 0x5b) return undefined
  const items: Span[] = []
  const spans = itemSpans(bytes, start, objectBytesMax)
  for (let step = spans.next(); ; step = spans.next()) {
    if (step.done === true) {
      if (step.value !== undefined) return { items, end: step.value }
      if (bytes.length <= objectBytesMax) return undefined
      throw new ManifestError(`${file}: is not valid JSON after byte ${items.at(-1)?.end ?? start}`)
    }
    items.push(step.value)
    if (step.value.end - step.value.start > objectBytesMax) throw tooLarge(`${file}: item ${items.length}`)
    requireRoom(items.length, file)
    await pause()
  }
}

function requireRoom(objects: number, file: string): void {
  if (objects > objectsMax) throw new OversizeError(`${file}: has more than ${objectsMax} objects: load it in parts`)
}

function parse(file: string, ...parts: readonly Buffer[]): unknown {
  if (parts.reduce((sum, { length }) => sum + length, 0) > objectBytesMax) throw tooLarge(file)
  const bytes = Buffer.concat(parts)
  requireFewValues(bytes, file)
  const decoded = decodeJson(bytes)
  if (decoded.kind !== 'json') throw new ManifestError(`${file}: ${decoded.message}`)
  return decoded.value
}

/** Looks up the names of an object in its text; the rest is parsed when it is read. */
export function objectOfJson(bytes: Buffer, file: string, said: ItemKind = {}): DumpedObject {
  const metadata = memberStart(bytes, 0, 'metadata')
  const { apiVersion = said.apiVersion, kind = said.kind } = { apiVersion: textIn(bytes, 0, 'apiVersion'), kind: textIn(bytes, 0, 'kind') }
  const name = metadata === undefined ? undefined : textIn(bytes, metadata, 'name')
  // The parser that can describe the error refuses an unexpected text.
  if (apiVersion === undefined || kind === undefined || metadata === undefined || name === undefined)
    return parsedObject(asObject(parse(file, bytes), file, said), file)
  return {
    ...{ apiVersion, kind, name, file },
    namespace: textIn(bytes, metadata, 'namespace') || undefined,
    revision: parseRevision(textIn(bytes, metadata, 'resourceVersion') ?? '') ?? 0,
    read: () => readJson(bytes, file, said),
  }
}

/** The object of a text in JSON. `place` begins the messages of errors. */
export function readJson(bytes: Buffer, place: string, said?: ItemKind): LoadedObject {
  requireFewValues(bytes, place)
  try {
    const { value, hasBigIntegers } = decodeOwnJson(bytes)
    return { object: asObject(value, place, said), hasBigIntegers }
  } catch (error) {
    if (error instanceof SyntaxError) throw new ManifestError(`${place}: ${error.message}`, { cause: error })
    throw error
  }
}

/** The text of a string member; undefined if it is missing or not a plain string. */
function textIn(bytes: Buffer, at: number, name: string): string | undefined {
  const span = memberSpan(bytes, at, name)
  if (span === undefined || bytes[span.start] !== 0x22) return undefined
  const text = bytes.toString('utf8', span.start + 1, span.end - 1)
  return text.includes('\\') ? undefined : text
}

async function objectsOfYaml(bytes: Buffer, file: string, pause: Pause): Promise<DumpedObject[]> {
  const lineOf = lineCounter(bytes, pause)
  const found: DumpedObject[] = []
  let documents = 0
  for await (const document of documentsIn(bytes, pause)) {
    requireRoom(++documents, file)
    if (document.text.length <= emptyDocument.length && emptyDocument.startsWith(document.text.toString('latin1'))) continue
    const line = await lineOf(document.start)
    const listed = await listedIn(document, { file, pause, lineOf })
    if (listed === undefined && document.text.length > objectBytesMax) throw tooLarge(`${file}:${line}`)
    const objects = listed ?? (await parseManifests(document.text.toString(), file, line)).map(({ object }) => parsedObject(object, file))
    for (const object of objects) found.push(object)
    requireRoom(found.length, file)
  }
  return found
}

const emptyDocument = '---\n'

/** A part of a text, and its place in it. */
interface Part {
  readonly text: Buffer
  readonly start: number
}

/** Bytes that are searched in one turn of the event loop. */
const windowBytes = 8 * 1024 * 1024
const lineEnd = 0x0a

/** The documents of a stream, each from its line of dashes on. */
async function* documentsIn(bytes: Buffer, pause: Pause): AsyncGenerator<Part, void, undefined> {
  let start = 0
  for (let from = 0; from < bytes.length; await pause()) {
    // A window has the first bytes of the next one, since a mark may begin in one and end in the other.
    const found = bytes.subarray(from, from + windowBytes + 3).indexOf('\n---')
    from += found < 0 ? windowBytes : found + 1
    if (found < 0 || !/^---(?:\s|$)/.test(bytes.toString('latin1', from, from + 4))) continue
    yield { text: bytes.subarray(start, from), start }
    start = from
  }
  yield { text: bytes.subarray(start), start }
}

/** The line of each of several ascending places in a text, from 1. */
function lineCounter(bytes: Buffer, pause: Pause): (place: number) => Promise<number> {
  let line = 1
  let from = 0
  return async (place) => {
    for (let end = bytes.indexOf(lineEnd, from); end >= 0 && end < place; end = bytes.indexOf(lineEnd, from)) {
      line += 1
      from = end + 1
      if (line % linesPerStep === 0) await pause()
    }
    return line
  }
}

const linesPerStep = 10_000

/** The longest text before the items of a List. */
const headBytesMax = 64 * 1024

/**
 * The objects of a List as kubectl prints it: a line `items:`, and items that each begin with a dash at the same indentation. A sequence alone counts
 * as the items of a List. Other lines of an item are indented further, so each item is parsed alone. Undefined for any other text.
 */
async function listedIn(document: Part, { file, pause, lineOf }: Reading & { lineOf(place: number): Promise<number> }) {
  const { text, start } = document
  // Each character is a byte, so that indexes are places in the text.
  const front = text.toString('latin1', 0, headBytesMax)
  const head = /^(?:---[ \t]*\r?\n)?(?=()- )/.exec(front) ?? /^items:[ \t]*\r?\n(?=( *)- )/m.exec(front)
  if (head === null) return undefined
  const isSequence = !head[0].startsWith('items')
  const before = isSequence ? 'apiVersion: v1\nkind: List\n' : text.toString('utf8', 0, head.index)
  const dash = `\n${head[1]}- `
  const values: unknown[] = []
  for (let at = head.index + head[0].length; ; ) {
    await pause()
    const window = text.subarray(at, at + objectBytesMax + 1)
    const length = window.indexOf(dash) + 1
    if (length === 0 && window.length > objectBytesMax) throw tooLarge(`${file}:${await lineOf(start + at)}`)
    const item = window.toString('latin1', 0, length === 0 ? window.length : length)
    if (/^\.\.\./m.test(item)) return undefined
    const end = /^[^\s#-]/m.exec(item)?.index ?? (length === 0 ? item.length : undefined)
    for (const value of await parseItems(window.toString('utf8', 0, end ?? length), file, () => lineOf(start + at))) values.push(value)
    requireRoom(values.length, file)
    if (end === undefined) {
      at += length
      continue
    }
    const rest = text.subarray(at + end)
    if (rest.length > objectBytesMax) throw tooLarge(file)
    const envelope = parseYaml(`${before}items: []\n${rest}`)
    const said = envelope.kind === 'yaml' ? itemKindOf(envelope.value) : undefined
    return said && values.map((value) => parsedObject(asObject(value, file, said), file))
  }
}

/** The items of a part of a List: one, and any that follow it after a dash alone in its line. */
async function parseItems(text: string, file: string, lineOf: () => Promise<number>): Promise<readonly unknown[]> {
  const parsed = parseYaml(text)
  if (parsed.kind === 'yaml') return Array.isArray(parsed.value) ? parsed.value : [parsed.value]
  const [, at = '1', problem = parsed.message] = /^yaml: line (\d+): (.*)$/s.exec(parsed.message) ?? []
  throw new ManifestError(`${file}:${(await lineOf()) + Number(at) - 1}: ${problem}`)
}
