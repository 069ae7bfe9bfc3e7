import { createHash } from 'node:crypto'
import { hasMembers } from '@orch/core/json'
import { rootOf } from './api-service.ts'

type Json = Readonly<Record<string, unknown>>

/** The part of an OpenAPI 2 document that is about one group version. */
export interface OpenApi2Part {
  readonly paths: Json
  readonly definitions: Json
}

/** Paths of a group version, and the definitions that they refer to. What else the document says is not believed. */
export function partOfOpenApi2(document: unknown, place: { readonly group: string; readonly version: string }): OpenApi2Part | undefined {
  const [paths, definitions] = [memberOf(document, 'paths'), memberOf(document, 'definitions')]
  if (paths === undefined || definitions === undefined) return undefined
  const root = rootOf(place)
  const own = Object.fromEntries(Object.entries(paths).filter(([path]) => path === `${root}/` || path.startsWith(`${root}/`)))
  const found = new Map<string, unknown>()
  const follow = (value: unknown): void => {
    if (Array.isArray(value)) for (const item of value) follow(item)
    if (!hasMembers(value)) return
    for (const [name, member] of Object.entries(value)) {
      const definition = name === '$ref' && typeof member === 'string' ? nameInReference(member) : undefined
      if (definition === undefined) follow(member)
      else if (!found.has(definition) && Object.hasOwn(definitions, definition)) {
        found.set(definition, definitions[definition])
        follow(definitions[definition])
      }
    }
  }
  follow(own)
  return { paths: own, definitions: Object.fromEntries(found) }
}

const referenceStart = '#/definitions/'

function nameInReference(reference: string): string | undefined {
  return reference.startsWith(referenceStart) ? reference.slice(referenceStart.length) : undefined
}

/** The part beside other definitions: one of a name that is taken by another content has a name of its own. */
export function besideDefinitions({ paths, definitions }: OpenApi2Part, taken: Json): OpenApi2Part {
  const renamed = new Map<string, string>()
  const same = new Set<string>()
  for (const [name, definition] of Object.entries(definitions)) {
    if (!Object.hasOwn(taken, name)) continue
    if (JSON.stringify(taken[name]) === JSON.stringify(definition)) same.add(name)
    else renamed.set(name, freeName(name, taken, definitions))
  }
  const kept = Object.entries(definitions).filter(([name]) => !same.has(name))
  const named = Object.fromEntries(kept.map(([name, definition]) => [renamed.get(name) ?? name, definition]))
  const reference = (name: string) => `${referenceStart}${renamed.get(name) ?? name}`
  return { paths: withReferences(paths, reference), definitions: withReferences(named, reference) }
}

function freeName(name: string, taken: Json, own: Json): string {
  for (let count = 2; ; count += 1) {
    const candidate = `${name}_v${count}`
    if (!Object.hasOwn(taken, candidate) && !Object.hasOwn(own, candidate)) return candidate
  }
}

function withReferences<T>(value: T, reference: (name: string) => string): T {
  const text = JSON.stringify(value, (name, member: unknown) => {
    const definition = name === '$ref' && typeof member === 'string' ? nameInReference(member) : undefined
    return definition === undefined ? member : reference(definition)
  })
  return JSON.parse(text) as T
}

/** The same as an OpenAPI 3 document, for servers that speak the older form alone. */
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
    .filter((parameter) => parameter['in'] !== 'body')
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

/** The hash by which a document is known, as this server prints those of its own. */
export function hashOf(bytes: Uint8Array): string {
  return createHash('sha512').update(bytes).digest('hex').toUpperCase()
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
