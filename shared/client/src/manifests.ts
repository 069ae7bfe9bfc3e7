import { readdirSync, readFileSync, statSync } from 'node:fs'
import { extname, join } from 'node:path'
import { decodeJson, hasMembers, isJsonObject } from '@orch/core/json'
import type { ApiObject } from '@orch/core/meta'

/** An object of a file, and the line where it begins. */
export interface Manifest {
  readonly object: ApiObject
  readonly file: string
  /** Counted from 1. */
  readonly line: number
  /** Keys that the text repeats; the last occurrence applies. */
  readonly repeats: readonly { readonly line: number; readonly message: string }[]
}

/** A file that holds no objects; the message names the file and the line. */
export class ManifestError extends Error {}

const extensions = ['.yaml', '.yml', '.json']

/** The objects of files and folders, in order. A folder means its `.yaml`, `.yml` and `.json` files, by name. */
export async function readManifests(paths: readonly string[]): Promise<Manifest[]> {
  const found: Manifest[] = []
  for (const path of paths) for (const file of filesOf(path)) found.push(...(await parseManifests(readFileSync(file, 'utf8'), file)))
  return found
}

function filesOf(path: string): string[] {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat === undefined) throw new ManifestError(`${path}: there is no such file or folder`)
  if (!stat.isDirectory()) return [path]
  const files = readdirSync(path, { withFileTypes: true })
    .filter((entry) => !entry.isDirectory() && extensions.includes(extname(entry.name)))
    .map((entry) => join(path, entry.name))
    .sort()
  if (files.length === 0) throw new ManifestError(`${path}: the folder has no file with the ending ${extensions.join(', ')}`)
  return files
}

/** The objects of a YAML or JSON text: one per document, or the items of a List. `first`: the line of the file where the text begins. */
export async function parseManifests(text: string, file: string, first = 1): Promise<Manifest[]> {
  const { parseYaml, yamlDocuments } = await import('@orch/core/yaml')
  const manifests: Manifest[] = []
  for (const { source, line: lineInText } of yamlDocuments(text)) {
    const line = first + lineInText - 1
    const parsed = parseJson(source) ?? parseYaml(source)
    const at = (text: string) => locate(text, line)
    if (parsed.kind === 'malformed') {
      const problem = at(parsed.message.replace(/^yaml: /, ''))
      throw new ManifestError(`${file}:${problem.line}: ${problem.message}`)
    }
    if (parsed.value === null) continue
    const objects = objectsOf(parsed.value, `${file}:${line}`)
    manifests.push(...objects.map((object, index) => ({ object, file, line, repeats: index === 0 ? parsed.repeats.map(at) : [] })))
  }
  return manifests
}

/** Parses JSON, which differs from YAML in some escapes; undefined if the text is not JSON. */
function parseJson(source: string): { readonly kind: 'json'; readonly value: unknown; readonly repeats: readonly string[] } | undefined {
  if (!source.trimStart().startsWith('{')) return undefined
  const decoded = decodeJson(source)
  return decoded.kind === 'json' && decoded.duplicates.length === 0 ? { kind: 'json', value: decoded.value, repeats: [] } : undefined
}

/** Adds the line of the file to a message about a document. */
function locate(text: string, first: number): { readonly line: number; readonly message: string } {
  const [, line = '1', message = text] = /^line (\d+): (.*)$/s.exec(text) ?? []
  return { line: first + Number(line) - 1, message }
}

function objectsOf(value: unknown, where: string): ApiObject[] {
  if (!isJsonObject(value)) throw new ManifestError(`${where}: an object was expected`)
  const { apiVersion, kind, metadata, items } = value
  if (typeof apiVersion !== 'string' || typeof kind !== 'string')
    throw new ManifestError(`${where}: the object has no apiVersion or no kind`)
  // Programs in Go print an empty list as null.
  if (kind.endsWith('List') && items === null) return []
  if (kind.endsWith('List') && Array.isArray(items)) return items.flatMap((item) => objectsOf(item, where))
  if (!hasMembers(metadata)) throw new ManifestError(`${where}: the ${kind} has no metadata`)
  return [{ ...value, apiVersion, kind, metadata }]
}
