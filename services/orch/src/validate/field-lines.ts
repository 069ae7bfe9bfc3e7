import { readFileSync } from 'node:fs'
import type { Manifest } from '@orch/client'
import { type Document, isMap, isNode, isScalar, isSeq, LineCounter, type ParsedNode, parseAllDocuments } from 'yaml'

interface ParsedFile {
  readonly counter: LineCounter
  readonly documents: readonly Document.Parsed<ParsedNode>[]
}

/** Finds the lines of fields in files. */
export class FieldLines {
  readonly #files = new Map<string, ParsedFile>()

  /** The line of a field, such as `spec.containers[0].image`, or of the nearest one around it that the file has; of '' that of the object. */
  lineOf({ file, line, object }: Manifest, field: string): number {
    const { counter, documents } = this.#read(file)
    const document = documents.findLast(({ range }) => counter.linePos(range[0]).line <= line) ?? documents[0]
    let node: unknown = itemOf(document?.contents, object.metadata.name)
    let found = lineOfNode(node, counter, line)
    for (const step of stepsOf(field)) {
      const { at, value } = stepInto(node, step)
      if (at === undefined) break
      found = lineOfNode(at, counter, found)
      node = value
    }
    return found
  }

  #read(file: string): ParsedFile {
    const known = this.#files.get(file)
    if (known !== undefined) return known
    const counter = new LineCounter()
    const parsed = parseAllDocuments(readFileSync(file, 'utf8'), { lineCounter: counter, uniqueKeys: false })
    const read = { counter, documents: Array.isArray(parsed) ? parsed : [] }
    this.#files.set(file, read)
    return read
  }
}

/** What a step leads to, and the node where it begins: the key of a member, or the item. */
function stepInto(node: unknown, step: string): { readonly at: unknown; readonly value: unknown } {
  if (isMap(node)) {
    const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === step)
    return { at: pair?.key, value: pair?.value }
  }
  if (!isSeq(node)) return { at: undefined, value: undefined }
  const item = node.items[Number(step)]
  return { at: item, value: item }
}

function lineOfNode(node: unknown, counter: LineCounter, otherwise: number): number {
  const start = isNode(node) ? node.range?.[0] : undefined
  return start === undefined ? otherwise : counter.linePos(start).line
}

/** Of a List the item with the name. */
function itemOf(contents: unknown, name: string | undefined): unknown {
  if (!isMap(contents)) return contents
  const items = contents.get('items', true)
  if (!isSeq(items)) return contents
  return items.items.find((item) => isMap(item) && item.getIn(['metadata', 'name']) === name) ?? contents
}

/** `spec.ports[0].name` and `metadata.labels[a.b/c]` as steps. */
function stepsOf(field: string): string[] {
  return [...field.matchAll(/\[([^\]]*)\]|([^.[\]]+)/g)].map(([, inBrackets, name]) => inBrackets ?? name ?? '')
}
