import { CtlError } from '../words.ts'

/** A value as YAML in kubectl's style: sorted keys, unwrapped lines. */
export async function printYaml(value: unknown): Promise<string> {
  const yaml = await import('@orch/core/yaml')
  return yaml.printYaml(sorted(value))
}

/** A copy of the value with the keys of all maps sorted. */
export function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([key, item]) => [key, sorted(item)]),
  )
}

/** The value of a text by a user, in YAML or JSON. */
export async function readText(text: string, what: string): Promise<unknown> {
  const { readYaml, YamlError } = await import('@orch/core/yaml')
  try {
    return readYaml(text)
  } catch (error) {
    if (!(error instanceof YamlError)) throw error
    throw new CtlError(`${what} is not valid YAML: ${error.message}`)
  }
}
