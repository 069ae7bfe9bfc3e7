import type { FieldRequirement } from './selection.ts'

/** A parsed selector, or an error text. */
export type FieldSelectorReading = { kind: 'selector'; requirements: FieldRequirement[] } | { kind: 'malformed'; message: string }

/**
 * Parses a field selector into terms, in their order in the text. In a value, `\` precedes `\`, `,` and `=`:
 *
 *   metadata.name=a,spec.x!=b\,c   →   metadata.name Equals 'a' · spec.x NotEquals 'b,c'
 */
export function parseFieldSelector(text: string): FieldSelectorReading {
  const requirements: FieldRequirement[] = []
  for (const term of splitTerms(text).sort()) {
    if (term === '') continue
    const match = /^(.*?)(!=|==|=)(.*)$/s.exec(term)
    if (match === null) return { kind: 'malformed', message: `invalid selector: '${text}'; can't understand '${term}'` }
    const [, field = '', operator, escaped = ''] = match
    const value = toPlainValue(escaped)
    if (value.kind === 'malformed') return value
    requirements.push({ field, operator: operator === '!=' ? 'NotEquals' : 'Equals', value: value.text })
  }
  return { kind: 'selector', requirements }
}

function splitTerms(text: string): string[] {
  const terms: string[] = []
  let start = 0
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index]
    if (character === '\\') index += 1
    if (character !== ',') continue
    terms.push(text.slice(start, index))
    start = index + 1
  }
  terms.push(text.slice(start))
  return terms
}

function toPlainValue(text: string): { kind: 'text'; text: string } | { kind: 'malformed'; message: string } {
  let plain = ''
  for (let index = 0; index < text.length; index += 1) {
    const character = text.charAt(index)
    // A comma has already ended the term.
    if (character === '=') {
      return { kind: 'malformed', message: `invalid field selector: unescaped character in value: ${character.charCodeAt(0)}` }
    }
    if (character !== '\\') {
      plain += character
      continue
    }
    index += 1
    const escaped = text.charAt(index)
    if (escaped !== '\\' && escaped !== ',' && escaped !== '=') {
      return { kind: 'malformed', message: `invalid field selector: invalid escape sequence: \\${escaped}` }
    }
    plain += escaped
  }
  return { kind: 'text', text: plain }
}

/** True if an object's selectable fields match all terms; an absent field counts as empty. */
export function matchesFields(requirements: readonly FieldRequirement[], fields: Readonly<Record<string, string>>): boolean {
  for (const { field, operator, value } of requirements) {
    const actual = Object.hasOwn(fields, field) ? (fields[field] ?? '') : ''
    if ((actual === value) !== (operator === 'Equals')) return false
  }
  return true
}

/** Metadata fields that every kind can select by. */
const commonFields: ReadonlySet<string> = new Set(['metadata.name', 'metadata.namespace'])

/** The fields that a resource can select by. */
export interface SupportedFields {
  readonly fields: Iterable<string>
  /** True for a custom kind, which has another error message. */
  readonly isCustom?: boolean
  /** The kind, and possibly its version, for messages that name them. */
  readonly namedKind?: string | undefined
  readonly namedVersion?: string | undefined
}

/** The error of a selector with an unsupported field; undefined if it is valid. */
export function unsupportedField(
  requirements: readonly FieldRequirement[],
  { fields: supported, isCustom = false, namedKind, namedVersion }: SupportedFields,
): string | undefined {
  const known = new Set(supported)
  const stranger = requirements.find(({ field }) => !known.has(field))
  if (stranger === undefined) return undefined
  if (namedVersion !== undefined) return `field label not supported for ${namedVersion}, Kind=${namedKind}: ${stranger.field}`
  if (namedKind !== undefined) return `field label ${JSON.stringify(stranger.field)} not supported for ${namedKind}`
  if (isCustom || [...known].some((field) => !commonFields.has(field))) return `field label not supported: ${stranger.field}`
  return `${JSON.stringify(stranger.field)} is not a known field selector: only "metadata.name", "metadata.namespace"`
}

/** True for a field that every key contains. */
export function isInKey({ field }: FieldRequirement): boolean {
  return commonFields.has(field)
}

/** The fields in the key of an object; a resource is the prefix of its keys. */
export function fieldsOfKey(resource: string, key: string): Record<string, string> {
  const rest = key.slice(resource.length + 1)
  const slash = rest.indexOf('/')
  return { 'metadata.namespace': slash < 0 ? '' : rest.slice(0, slash), 'metadata.name': rest.slice(slash + 1) }
}
