import { CORE_SCHEMA, load, type MappingTagDefinition, mapTag, YAMLException } from 'js-yaml'
import { limits } from './limits.ts'

/** A text of YAML that has been read. A member that is there more than once has its last value. */
export type ParsedYaml =
  | { readonly kind: 'yaml'; readonly value: unknown; readonly duplicates: readonly string[] }
  | { readonly kind: 'malformed'; readonly message: string }

/** Reads YAML. Members that are there twice are looked for only in texts that have some. */
export function parseYaml(text: string): ParsedYaml {
  try {
    const value = load(text)
    return outgrowsBodies(value, text) ? tooManyAliases : { kind: 'yaml', value, duplicates: [] }
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error
    return error.reason === 'duplicated mapping key' ? parseWithDuplicates(text) : { kind: 'malformed', message: error.reason }
  }
}

function parseWithDuplicates(text: string): ParsedYaml {
  const repeated = new Map<unknown, Set<string>>()
  const noting: MappingTagDefinition<Record<string, unknown>> = {
    ...(mapTag as MappingTagDefinition<Record<string, unknown>>),
    addPair(object, key, value) {
      if (mapTag.has(object, key)) repeated.set(object, (repeated.get(object) ?? new Set()).add(String(key)))
      return mapTag.addPair(object, key, value)
    },
  }
  try {
    const value = load(text, { json: true, schema: CORE_SCHEMA.withTags(noting) })
    return outgrowsBodies(value, text) ? tooManyAliases : { kind: 'yaml', value, duplicates: pathsOf(value, '', repeated) }
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error
    return { kind: 'malformed', message: error.reason }
  }
}

const tooManyAliases: ParsedYaml = { kind: 'malformed', message: 'its aliases stand for more than a body may hold' }

/** By aliases a short text can stand for a value that fills all memory, or that has no end. */
function outgrowsBodies(value: unknown, text: string): boolean {
  if (!text.includes('*')) return false
  let room = limits.bodyBytesMax
  const waiting = [value]
  for (let next = waiting.pop(); next !== undefined && room >= 0; next = waiting.pop()) {
    if (typeof next === 'string') room -= next.length
    if (typeof next !== 'object' || next === null) continue
    const inner = Object.entries(next).flat()
    room -= inner.length
    if (room >= 0) for (const one of inner) if (one !== undefined) waiting.push(one)
  }
  return room < 0
}

function pathsOf(value: unknown, path: string, repeated: ReadonlyMap<unknown, ReadonlySet<string>>): string[] {
  if (typeof value !== 'object' || value === null) return []
  const below = (key: string) => (Array.isArray(value) ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`)
  const own = [...(repeated.get(value) ?? [])].map(below)
  return [...own, ...Object.entries(value).flatMap(([key, inner]) => pathsOf(inner, below(key), repeated))]
}
