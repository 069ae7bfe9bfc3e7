/** A path that leads to a schema. */
export interface SchemaPath<Schema> {
  readonly kind: 'path'
  /** The names on the way. */
  readonly names: readonly string[]
  /** As messages print it: `a.b[key]`. */
  readonly text: string
  readonly schema: Schema
}

/** A path that leads nowhere. */
export interface WrongSchemaPath {
  readonly kind: 'wrong'
  readonly problem: string
}

const nowhere = 'does not refer to a valid field'

/** The steps into a kind of schemas. */
export interface SchemaSteps<Schema> {
  hasProperties(schema: Schema): boolean
  property(schema: Schema, name: string): Schema | undefined
  /** The schema of the values of a map. */
  values(schema: Schema): Schema | undefined
}

/** As `followSchemaPath`, for schemas of any kind. */
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

/** Delimiters are tokens, and so is the text between two of them. A text in single quotes may hold delimiters. */
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
