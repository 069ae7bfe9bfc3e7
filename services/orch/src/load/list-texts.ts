import { ManifestError, parseManifests } from '@orch/client'
import { decodeJson, decodeOwnJson, itemSpans, memberSpan, memberStart } from '@orch/core/json'
import { parseRevision } from '@orch/core/meta'
import { parseYaml } from '@orch/core/yaml'
import { asObject, type DumpedObject, type ItemKind, itemKindOf, parsedObject } from './dumped-object.ts'

/** Yields to other work at intervals. */
export type Pause = () => Promise<void>

/** The objects of a JSON or YAML text, in order. A List or an array yields its items, which are parsed one at a time. */
export async function objectsOf(bytes: Buffer, file: string, pause: Pause): Promise<DumpedObject[]> {
  return /^\s*[{[]/.test(bytes.toString('latin1', 0, 1_000))
    ? objectsOfJson(bytes, file, pause)
    : objectsOfYaml(bytes.toString(), file, pause)
}

async function objectsOfJson(bytes: Buffer, file: string, pause: Pause): Promise<DumpedObject[]> {
  const isArray = /^\s*\[/.test(bytes.toString('latin1', 0, 1_000))
  const start = isArray ? bytes.indexOf('[') : memberStart(bytes, 0, 'items')
  const list = start === undefined ? undefined : await itemsAt(bytes, start, pause)
  const envelope = parse(list === undefined ? bytes : Buffer.concat([bytes.subarray(0, start), emptyList, list.rest]), file)
  const said = isArray ? {} : itemKindOf(envelope)
  if (said === undefined) return [parsedObject(asObject(list === undefined ? envelope : parse(bytes, file), file), file)]
  if (list === undefined) return []
  const found: DumpedObject[] = []
  for (const item of list.items) {
    if (found.length % itemsPerStep === 0) await pause()
    found.push(objectOfJson(item, file, said))
  }
  return found
}

const emptyList = Buffer.from('[]')
const itemsPerStep = 100

/** The items of an array, and the text after it; undefined if the text is not an array or is incomplete. */
async function itemsAt(
  bytes: Buffer,
  start: number,
  pause: Pause,
): Promise<{ readonly items: Buffer[]; readonly rest: Buffer } | undefined> {
  if (bytes[start] !== 0x5b) return undefined
  const items: Buffer[] = []
  const spans = itemSpans(bytes, start)
  for (let step = spans.next(); ; step = spans.next()) {
    if (step.done === true) return step.value === undefined ? undefined : { items, rest: bytes.subarray(step.value) }
    items.push(bytes.subarray(step.value.start, step.value.end))
    if (items.length % itemsPerStep === 0) await pause()
  }
}

function parse(bytes: Buffer, file: string): unknown {
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
    return parsedObject(asObject(parse(bytes, file), file, said), file)
  return {
    ...{ apiVersion, kind, name, file },
    namespace: textIn(bytes, metadata, 'namespace') || undefined,
    revision: parseRevision(textIn(bytes, metadata, 'resourceVersion') ?? '') ?? 0,
    read() {
      const { value, hasBigIntegers } = decodeOwn(bytes, file)
      return { object: asObject(value, file, said), hasBigIntegers }
    },
  }
}

function decodeOwn(bytes: Buffer, file: string): ReturnType<typeof decodeOwnJson> {
  try {
    return decodeOwnJson(bytes)
  } catch (error) {
    if (error instanceof SyntaxError) throw new ManifestError(`${file}: ${error.message}`, { cause: error })
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

async function objectsOfYaml(text: string, file: string, pause: Pause): Promise<DumpedObject[]> {
  const list = splitList(text)
  const envelope = list === undefined ? undefined : parseYaml(list.envelope)
  const said = envelope?.kind === 'yaml' ? itemKindOf(envelope.value) : undefined
  if (list === undefined || said === undefined) return (await parseManifests(text, file)).map(({ object }) => parsedObject(object, file))
  const found: DumpedObject[] = []
  for (const item of list.items) {
    await pause()
    found.push(parsedObject(asObject(parseItem(item, file), file, said), file))
  }
  return found
}

/** The text of an item from its dash on, and its line number in the file. */
interface ItemText {
  readonly text: string
  readonly line: number
}

function parseItem({ text, line }: ItemText, file: string): unknown {
  const parsed = parseYaml(text)
  if (parsed.kind === 'yaml') return Array.isArray(parsed.value) ? parsed.value[0] : undefined
  const [, at = '1', problem = parsed.message] = /^yaml: line (\d+): (.*)$/s.exec(parsed.message) ?? []
  throw new ManifestError(`${file}:${line + Number(at) - 1}: ${problem}`)
}

/**
 * Splits a List as kubectl prints it: a line `items:`, and items that each begin with a dash in the first column. A sequence alone counts as the
 * items of a List. Other lines of an item are indented, so no other line begins with a dash. Undefined for any other text.
 */
function splitList(text: string): { readonly envelope: string; readonly items: readonly ItemText[] } | undefined {
  const head = /^(?=- )/.exec(text) ?? /^items:[ \t]*\r?\n(?=- )/m.exec(text)
  if (head === null || /^(?:---|\.\.\.)/m.test(text.replace(/^---[ \t]*\r?\n/, ''))) return undefined
  const begin = head.index + head[0].length
  const after = /^[^\s#-]/m.exec(text.slice(begin))
  const end = after === null ? text.length : begin + after.index
  let line = text.slice(0, begin).split('\n').length
  const items = text
    .slice(begin, end)
    .split(/^(?=- )/m)
    .map((item) => {
      const at = line
      line += item.split('\n').length - 1
      return { text: item, line: at }
    })
  const before = head[0] === '' ? 'apiVersion: v1\nkind: List\n' : text.slice(0, head.index)
  return { envelope: `${before}items: []\n${text.slice(end)}`, items }
}
