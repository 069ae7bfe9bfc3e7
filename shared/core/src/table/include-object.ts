/** The values of `includeObject`. */
export type IncludeObject = 'None' | 'Object' | 'Metadata'

export type IncludeObjectReading =
  | { readonly kind: 'include'; readonly include: IncludeObject }
  | { readonly kind: 'malformed'; readonly message: string }

/** Parses the query parameter `includeObject`. Default: Metadata. */
export function parseIncludeObject(text: string | null | undefined): IncludeObjectReading {
  const include = text || 'Metadata'
  if (include === 'None' || include === 'Object' || include === 'Metadata') return { kind: 'include', include }
  const problem = `Invalid value: ${JSON.stringify(text)}: must be 'Metadata', 'Object', 'None', or empty`
  return { kind: 'malformed', message: `Unable to convert to Table as requested: includeObject: ${problem}` }
}
