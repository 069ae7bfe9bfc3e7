/** A path that resolves to a schema. */
export interface SchemaPath<Schema> {
  readonly kind: 'path'
  /** The names along the path. */
  readonly names: readonly string[]
  /** The path in messages: `a.b[key]`. */
  readonly text: string
  readonly schema: Schema
}

/** A path that does not resolve. */
export interface WrongSchemaPath {
  readonly kind: 'wrong'
  readonly problem: string
}

const nowhere = 'does not refer to a valid field'

/** Functions for descending into a kind of schema. */
export interface SchemaSteps<Schema> {
  hasProperties(schema: Schema): boolean
  property(schema: Schema, name: string): Schema | undefined
  /** The schema of a map's values. */
  values(schema: Schema): Schema | undefined
}

/** Like `followSchemaPath`, for any kind of schema. */
export function followPath<Schema>(
  path: string,
  root: Schema,
  { steps, allowsBrackets = true }: { readonly steps: SchemaSteps<Schema>; readonly allowsBrackets?: boolean },
): SchemaPath<Schema> | WrongSchemaPath {
  const tokens = tokensOf(path)
  const names: string[] = []
  let text = ''
  let schema = root
  for (let at = 0; at < tokens.length; ) {
    const token = tokens[at]
    if (token !== '.' && token !== '[') return wrong(`expected [ or . but got: ${token}`)
    if (token === '[' && !allowsBrackets) return wrong('array notation is not allowed')
    const given = tokens[at + 1]
    if (given === undefined) return wrong('unexpected end of JSON path')
    const name = token === '.' ? { kind: 'name' as const, name: given } : unquote(given)
    if (name.kind === 'wrong') return name
    const isNamed = steps.hasProperties(schema)
    const next = isNamed ? steps.property(schema, name.name) : steps.values(schema)
    if (next === undefined) return wrong(nowhere)
    schema = next
    names.push(name.name)
    text += isNamed ? `${text === '' ? '' : '.'}${name.name}` : `[${name.name}]`
    at += 2
    if (token === '.') continue
    if (tokens[at] === undefined) return wrong('unexpected end of JSON path')
    if (tokens[at] !== ']') return wrong(`expected ] but got ${tokens[at]}`)
    at += 1
  }
  return { kind: 'path', names, text, schema }
}

function wrong(problem: string): WrongSchemaPath {
  return { kind: 'wrong', problem }
}

/** Splits a path into delimiters and the texts between them. A text in single quotes may contain delimiters. */
function tokensOf(path: string): string[] {
  return path.match(/'(?:[^']|(?<=\\)')*(?<!\\)'|'[\s\S]*|[.[\]]|[^.[\]]+/g) ?? []
}

const escapes: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  "'": "'",
  '\\': '\\',
}

function unquote(token: string): { readonly kind: 'name'; readonly name: string } | WrongSchemaPath {
  if (token.length < 2 || !token.startsWith("'") || !token.endsWith("'")) return wrong(`expected single quoted string but got ${token}`)
  const unknown = [...token.slice(1, -1).matchAll(/\\(.)/g)].find(([, letter = '']) => escapes[letter] === undefined)
  if (unknown !== undefined) return wrong(`invalid string literal: invalid escape char ${unknown[0]}`)
  return { kind: 'name', name: token.slice(1, -1).replace(/\\(.)/g, (_, letter: string) => escapes[letter] ?? '') }
}
