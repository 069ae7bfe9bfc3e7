import { readFileSync } from 'node:fs'
import type { Manifest } from '@orch/client'
import { isJsonObject } from '@orch/core/json'
import { type Places, parseYaml } from '@orch/core/yaml'

/** A document of a file, and the lines of its members. */
interface Document {
  readonly value: unknown
  readonly places: Places
}

/** Finds the lines of fields in files. */
export class FieldLines {
  readonly #documents = new Map<string, Document>()

  /** The line of a field, such as `spec.containers[0].image`, or of its nearest ancestor in the file; '' is the object itself. */
  lineOf(manifest: Manifest, field: string): number {
    const { value, places } = this.#read(manifest)
    let node = itemOf(value, manifest)
    let found = manifest.line + firstLine(places, node) - 1
    for (const step of stepsOf(field)) {
      const line = lineIn(places, node, Array.isArray(node) ? Number(step) : step)
      if (line === undefined) break
      found = manifest.line + line - 1
      node = memberOf(node, step)
    }
    return found
  }

  #read({ file, line }: Manifest): Document {
    const key = `${line} ${file}`
    const known = this.#documents.get(key)
    if (known !== undefined) return known
    const lines = readFileSync(file, 'utf8')
      .split(/\r?\n/)
      .slice(line - 1)
    // Leading dashes start the document; a separate parse would take them for its end.
    const source = [(lines[0] ?? '').replace(/^---(?=\s|$)/, ''), ...lines.slice(1)].join('\n')
    const places: Places = new Map()
    const parsed = parseYaml(source, places)
    const read = { value: parsed.kind === 'yaml' ? parsed.value : undefined, places }
    this.#documents.set(key, read)
    return read
  }
}

/** The line of a member or an item in its document. */
function lineIn(places: Places, node: unknown, at: string | number): number | undefined {
  return typeof node === 'object' && node !== null ? places.get(node)?.get(at) : undefined
}

function memberOf(node: unknown, step: string): unknown {
  if (Array.isArray(node)) return node[Number(step)]
  return isJsonObject(node) ? node[step] : undefined
}

/** The line of the first member. */
function firstLine(places: Places, node: unknown): number {
  const members = typeof node === 'object' && node !== null ? places.get(node) : undefined
  return Math.min(...(members?.values() ?? []), members === undefined || members.size === 0 ? 1 : Number.POSITIVE_INFINITY)
}

/** Finds the item of a List by its name. */
function itemOf(value: unknown, { object }: Manifest): unknown {
  const items: readonly unknown[] = isJsonObject(value) && Array.isArray(value['items']) ? value['items'] : []
  const name = object.metadata.name
  return items.find((item) => isJsonObject(item) && isJsonObject(item['metadata']) && item['metadata']['name'] === name) ?? value
}

/** `spec.ports[0].name` and `metadata.labels[a.b/c]` as steps. */
function stepsOf(field: string): string[] {
  return [...field.matchAll(/\[([^\]]*)\]|([^.[\]]+)/g)].map(([, inBrackets, name]) => inBrackets ?? name ?? '')
}
