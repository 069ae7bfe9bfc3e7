import { hasMembers } from '@orch/core/json'

type Json = Readonly<Record<string, unknown>>

/** The part of an OpenAPI 2 document for one group version. */
export interface OpenApi2Part {
  readonly paths: Json
  readonly definitions: Json
}

/**
 * Paths below the root of a group version, and the definitions that they refer to. Referenced parameters are inlined, as their names may be used in the
 * larger document. The rest of the document is ignored.
 */
export function partOfOpenApi2(document: unknown, root: string): OpenApi2Part | undefined {
  const [paths, definitions] = [memberOf(document, 'paths'), memberOf(document, 'definitions')]
  if (paths === undefined || definitions === undefined) return undefined
  const below = Object.entries(paths).filter(([path]) => path === `${root}/` || path.startsWith(`${root}/`))
  const own = withParameters(Object.fromEntries(below), memberOf(document, 'parameters') ?? {})
  const found = new Map<string, unknown>()
  const waiting = [...referencesOf(own)]
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (found.has(name) || !Object.hasOwn(definitions, name)) continue
    found.set(name, definitions[name])
    waiting.push(...referencesOf(definitions[name]))
  }
  return { paths: own, definitions: Object.fromEntries(found) }
}

const parameterStart = '#/parameters/'

/** The paths with inlined parameters; a dangling reference stays. */
function withParameters(paths: Json, parameters: Json): Json {
  const inList = (item: unknown): unknown => {
    const reference = hasMembers(item) ? item['$ref'] : undefined
    const name = typeof reference === 'string' && reference.startsWith(parameterStart) ? reference.slice(parameterStart.length) : ''
    return Object.hasOwn(parameters, name) ? parameters[name] : item
  }
  const text = JSON.stringify(paths, (key, member: unknown) =>
    key === 'parameters' && Array.isArray(member) ? member.map(inList) : member,
  )
  return JSON.parse(text) as Json
}

/** Names of the definitions that a value refers to. */
export function referencesOf(value: unknown, found = new Set<string>()): Set<string> {
  if (Array.isArray(value)) for (const item of value) referencesOf(item, found)
  if (!hasMembers(value)) return found
  for (const [name, member] of Object.entries(value)) {
    const definition = name === '$ref' && typeof member === 'string' ? nameInReference(member) : undefined
    if (definition === undefined) referencesOf(member, found)
    else found.add(definition)
  }
  return found
}

const referenceStart = '#/definitions/'

function nameInReference(reference: string): string | undefined {
  return reference.startsWith(referenceStart) ? reference.slice(referenceStart.length) : undefined
}

/** The changes of a part when it is added to other definitions. */
export interface Beside {
  /** Definitions that already exist. */
  readonly without: ReadonlySet<string>
  /** New names of definitions whose names are used with other content. */
  readonly renamed: ReadonlyMap<string, string>
}

/** The part in the form for other definitions. */
export function besideDefinitions({ paths, definitions }: OpenApi2Part, { without, renamed }: Beside): OpenApi2Part {
  const kept = Object.entries(definitions).filter(([name]) => !without.has(name))
  const named = Object.fromEntries(kept.map(([name, definition]) => [renamed.get(name) ?? name, definition]))
  const reference = (name: string) => `${referenceStart}${renamed.get(name) ?? name}`
  return { paths: withReferences(paths, reference), definitions: withReferences(named, reference) }
}

function withReferences<T>(value: T, reference: (name: string) => string): T {
  const text = JSON.stringify(value, (name, member: unknown) => {
    const definition = name === '$ref' && typeof member === 'string' ? nameInReference(member) : undefined
    return definition === undefined ? member : reference(definition)
  })
  return JSON.parse(text) as T
}

/** Converts the part to an OpenAPI 3 document, for servers that only offer OpenAPI 2. */
export function toOpenApi3({ paths, definitions }: OpenApi2Part, title: string): object {
  const reference = (name: string) => `#/components/schemas/${name}`
  return {
    openapi: '3.0.0',
    info: { title, version: 'unversioned' },
    paths: Object.fromEntries(Object.entries(withReferences(paths, reference)).map(([path, item]) => [path, pathItem(item)])),
    components: { schemas: withReferences(definitions, reference) },
  }
}

const operations: ReadonlySet<string> = new Set(['get', 'put', 'post', 'delete', 'options', 'head', 'patch'])

function pathItem(item: unknown): Json {
  if (!hasMembers(item)) return {}
  const entries = Object.entries(item).map(([name, member]) => {
    if (name === 'parameters') return [name, parametersOf(member)]
    return [name, operations.has(name) && hasMembers(member) ? operationOf(member) : member]
  })
  return Object.fromEntries(entries)
}

function operationOf({ consumes, produces, schemes: _schemes, parameters, responses, ...rest }: Json): Json {
  const body = listOf(parameters).find((parameter) => parameter['in'] === 'body')
  const types = textsOf(produces)
  const shown = Object.entries(hasMembers(responses) ? responses : {}).map(([code, response]) => [code, responseOf(response, types)])
  return {
    ...rest,
    parameters: parametersOf(parameters),
    ...(body === undefined ? {} : { requestBody: { content: contentOf(body['schema'], textsOf(consumes)) } }),
    responses: Object.fromEntries(shown),
  }
}

function parametersOf(parameters: unknown): Json[] {
  return listOf(parameters)
    .filter((parameter) => parameter['in'] !== 'body' && parameter['$ref'] === undefined)
    .map(({ type, uniqueItems, ...rest }) => ({ ...rest, schema: { type, ...(uniqueItems === undefined ? {} : { uniqueItems }) } }))
}

function responseOf(response: unknown, types: readonly string[]): Json {
  if (!hasMembers(response)) return { description: '' }
  const { schema, ...rest } = response
  return schema === undefined ? rest : { ...rest, content: contentOf(schema, types) }
}

function contentOf(schema: unknown, types: readonly string[]): Json {
  return Object.fromEntries((types.length === 0 ? ['*/*'] : types).map((type) => [type, { schema }]))
}

function memberOf(holder: unknown, name: string): Json | undefined {
  const member = hasMembers(holder) ? holder[name] : undefined
  return hasMembers(member) ? member : undefined
}

function listOf(value: unknown): Json[] {
  return Array.isArray(value) ? value.filter(hasMembers) : []
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
}
