/** `JSON.rawJSON` as the language has it; the type library does not know it yet. */
interface RawJson {
  rawJSON(text: string): unknown
}

/** The text of a value. A value with integers beyond 2^53 takes the slower way, in which they stay exact. */
export function printJson(value: unknown, options: { readonly hasBigIntegers?: boolean } = {}): string {
  if (options.hasBigIntegers !== true) return JSON.stringify(value)
  const { rawJSON } = JSON as unknown as RawJson
  return JSON.stringify(value, (_key, member: unknown) => (typeof member === 'bigint' ? rawJSON(String(member)) : member))
}
