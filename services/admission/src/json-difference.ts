import { isJsonObject, jsonEqual } from '@orch/core/json'

/** One operation of a JSON patch. */
export interface Difference {
  readonly op: 'add' | 'remove' | 'replace'
  readonly path: string
  readonly value?: unknown
}

/** The operations that turn `before` into `after`. Lists are compared item by item; a list that has grown has grown at its end. */
export function differences(before: unknown, after: unknown, path = ''): Difference[] {
  if (before === after) return []
  if (isJsonObject(before) && isJsonObject(after)) return recordDifferences(before, after, path)
  if (Array.isArray(before) && Array.isArray(after) && before.length <= after.length) {
    const common = before.flatMap((item, index) => differences(item, after[index], `${path}/${index}`))
    return [...common, ...after.slice(before.length).map((value): Difference => ({ op: 'add', path: `${path}/-`, value }))]
  }
  return jsonEqual(before, after) ? [] : [{ op: 'replace', path, value: after }]
}

function recordDifferences(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
  path: string,
): Difference[] {
  const found: Difference[] = []
  for (const name of Object.keys(before)) {
    if (after[name] === undefined && before[name] !== undefined) found.push({ op: 'remove', path: `${path}/${escaped(name)}` })
  }
  for (const [name, value] of Object.entries(after)) {
    if (value === undefined) continue
    const at = `${path}/${escaped(name)}`
    if (before[name] === undefined) found.push({ op: 'add', path: at, value })
    else found.push(...differences(before[name], value, at))
  }
  return found
}

function escaped(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1')
}
