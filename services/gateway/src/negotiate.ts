/** How an answer is written. */
export type Format = 'json' | 'yaml'

export type Negotiated =
  | { readonly kind: 'format'; readonly format: Format; readonly isPretty: boolean }
  /** No clause can be met. */
  | { readonly kind: 'none' }

/** Media types in which objects are answered, in the order in which a 406 names them. */
export const acceptedMediaTypes: readonly string[] = ['application/json', 'application/yaml']

/** Media types in which watches are answered. */
export const streamedMediaTypes: readonly string[] = ['application/json;stream=watch']

const formats: Readonly<Record<string, Format>> = {
  'application/json': 'json',
  'application/yaml': 'yaml',
  'application/*': 'json',
  '*/*': 'json',
}

const json: Negotiated = { kind: 'format', format: 'json', isPretty: false }

/**
 * The format for an `Accept` text. Clauses are tried from the greatest weight to the least, as they stand among equals.
 * A clause that asks for a form that is not offered (`as=Table`) is passed over.
 */
export function negotiate(accept: string | undefined): Negotiated {
  if (accept === undefined || accept === '' || accept === '*/*' || accept === 'application/json') return json
  for (const clause of clausesOf(accept)) {
    const format = formats[clause.type]
    if (format === undefined || clause.parameters.has('as') || clause.weight === 0) continue
    return { kind: 'format', format, isPretty: clause.parameters.get('pretty') === '1' }
  }
  return { kind: 'none' }
}

interface Clause {
  readonly type: string
  readonly parameters: ReadonlyMap<string, string>
  readonly weight: number
}

function clausesOf(accept: string): Clause[] {
  const clauses = accept.split(',').map((text) => {
    const [type = '', ...rest] = text.split(';').map((part) => part.trim())
    const parameters = new Map(rest.map((part) => [part.split('=')[0]?.trim() ?? '', part.slice(part.indexOf('=') + 1).trim()] as const))
    const weight = Number(parameters.get('q') ?? 1)
    return { type: type.toLowerCase(), parameters, weight: Number.isFinite(weight) ? weight : 1 }
  })
  return clauses.sort((left, right) => right.weight - left.weight)
}

export type BodyFormat = 'json' | 'yaml' | 'unknown'

/** The format that a `Content-Type` names; a body without one is JSON. */
export function bodyFormat(contentType: string | undefined): BodyFormat {
  if (contentType === undefined || contentType === '') return 'json'
  switch (mediaTypeOf(contentType)) {
    case 'application/json':
      return 'json'
    case 'application/yaml':
      return 'yaml'
    default:
      return 'unknown'
  }
}

/** The media type without its parameters, in lower case. */
export function mediaTypeOf(contentType: string): string {
  const end = contentType.indexOf(';')
  return (end < 0 ? contentType : contentType.slice(0, end)).trim().toLowerCase()
}
