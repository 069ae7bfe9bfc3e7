import { goNumber } from './go-text.ts'
import { parseJsonPath } from './json-path.ts'

/** Returns the values of selectable fields by label. */
export type FieldTexts = (object: Readonly<Record<string, unknown>>) => Record<string, string>

/** Values of a version's selectable fields. An absent field is an empty text. */
export function createFieldTexts(paths: readonly string[]): FieldTexts {
  const fields = paths.map((path) => ({ label: path.replace(/^\./, ''), read: parseJsonPath(path) }))
  return (object) => {
    const texts: Record<string, string> = {}
    for (const { label, read } of fields) texts[label] = textOf(read(object)[0])
    return texts
  }
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'bigint') return goNumber(value)
  return typeof value === 'boolean' ? String(value) : ''
}
