/** A value as kubectl prints YAML: keys by name, long lines whole. */
export async function printYaml(value: unknown): Promise<string> {
  const { dump } = await import('js-yaml')
  return dump(sorted(value), { lineWidth: -1, noRefs: true })
}

/** The same value with the keys of all maps in the order of their names. */
export function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([key, item]) => [key, sorted(item)]),
  )
}
