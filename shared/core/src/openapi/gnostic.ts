import { isJsonObject } from '../json/member.ts'
import { printJson } from '../json/print.ts'
import { isStepEnd, runAtOnce, type Steps } from '../steps.ts'
import type { Schema } from './schemas.ts'
import type { OpenApi2 } from './v2.ts'

/**
 * An OpenAPI 2 document as the Protobuf message that command-line clients read (`openapi.v2.Document`).
 * Maps become lists of named values; members that begin with `x-` become extensions in YAML, of which JSON is a part.
 */
export function encodeOpenApi2(document: OpenApi2): Uint8Array {
  return runAtOnce(encodeOpenApi2InSteps(document))
}

/** As `encodeOpenApi2`, with pauses between paths and definitions. */
export function* encodeOpenApi2InSteps(document: OpenApi2): Steps<Uint8Array> {
  const { swagger, info, paths, definitions, securityDefinitions, security } = document
  return message([
    text(1, swagger),
    nested(2, [text(1, info.title), text(2, info.version)]),
    nested(8, yield* namedInSteps(2, paths, pathItem)),
    nested(9, yield* namedInSteps(1, definitions, schemaMessage)),
    ...security.map((requirement) =>
      nested(
        12,
        named(1, requirement, () => []),
      ),
    ),
    nested(13, named(1, securityDefinitions, apiKey)),
  ])
}

/** The object in a member of a document's part. */
function schemaAt(part: Schema, name: string): Schema | undefined {
  const value = part[name]
  return isJsonObject(value) ? value : undefined
}

/** A field of a message, encoded; undefined: left out. */
type Part = Uint8Array | undefined

const utf8 = new TextEncoder()

function named(field: number, values: Schema, encode: (value: Schema) => Part[]): Part[] {
  return Object.entries(values).map(([name, value]) => namedValue(field, name, encode(isJsonObject(value) ? value : {})))
}

function* namedInSteps(field: number, values: Schema, encode: (value: Schema) => Part[]): Steps<Part[]> {
  const entries = Object.entries(values)
  const parts: Part[] = []
  for (const [index, [name, value]] of entries.entries()) {
    if (isStepEnd(index, entries.length)) yield
    parts.push(namedValue(field, name, encode(isJsonObject(value) ? value : {})))
  }
  yield
  return parts
}

function namedValue(field: number, name: string, value: readonly Part[]): Uint8Array {
  return nested(field, [text(1, name), nested(2, value)])
}

const methodFields: Readonly<Record<string, number>> = { get: 2, put: 3, post: 4, delete: 5, options: 6, head: 7, patch: 8 }

function pathItem(item: Schema): Part[] {
  const operations = Object.entries(methodFields).map(([method, field]) => {
    const operation = schemaAt(item, method)
    return operation === undefined ? undefined : nested(field, operationMessage(operation))
  })
  return [...operations, ...parametersItems(9, item['parameters']), ...extensions(10, item)]
}

function operationMessage(operation: Schema): Part[] {
  return [
    ...texts(1, operation['tags']),
    text(3, operation['description']),
    text(5, operation['operationId']),
    ...texts(6, operation['produces']),
    ...texts(7, operation['consumes']),
    ...parametersItems(8, operation['parameters']),
    nested(
      9,
      named(1, schemaAt(operation, 'responses') ?? {}, (response) => [nested(1, responseMessage(response))]),
    ),
    ...texts(10, operation['schemes']),
    ...extensions(13, operation),
  ]
}

/** A response has its schema two levels down: it could also be a file. */
function responseMessage(response: Schema): Part[] {
  const schema = schemaAt(response, 'schema')
  return [text(1, response['description']), schema === undefined ? undefined : nested(2, [nested(1, schemaMessage(schema))])]
}

function parametersItems(field: number, parameters: unknown): Part[] {
  return (Array.isArray(parameters) ? parameters : []).map((parameter: Schema) => nested(field, [parameterItem(parameter)]))
}

/** Operations share parameters: most of what a document of custom kinds says of paths. */
const parameterItems = new WeakMap<Schema, Uint8Array>()

function parameterItem(parameter: Schema): Uint8Array {
  const item = parameterItems.get(parameter) ?? nested(1, parameterMessage(parameter))
  parameterItems.set(parameter, item)
  return item
}

function parameterMessage(parameter: Schema): Part[] {
  switch (parameter['in']) {
    case 'body':
      return [nested(1, bodyParameter(parameter))]
    case 'path':
      return [nested(2, [nested(4, plainParameter(parameter, { type: 5, uniqueItems: 19 }))])]
    default:
      return [nested(2, [nested(3, plainParameter(parameter, { type: 6, uniqueItems: 20 }))])]
  }
}

function bodyParameter(parameter: Schema): Part[] {
  const schema = nested(5, schemaMessage(schemaAt(parameter, 'schema') ?? {}))
  return [text(1, parameter['description']), text(2, parameter['name']), text(3, parameter['in']), flag(4, parameter['required']), schema]
}

/** Query parameters have one field more than path parameters, before the type. */
function plainParameter(parameter: Schema, fields: { readonly type: number; readonly uniqueItems: number }): Part[] {
  return [
    flag(1, parameter['required']),
    text(2, parameter['in']),
    text(3, parameter['description']),
    text(4, parameter['name']),
    text(fields.type, parameter['type']),
    flag(fields.uniqueItems, parameter['uniqueItems']),
  ]
}

function schemaMessage(schema: Schema): Part[] {
  const additional = schemaAt(schema, 'additionalProperties')
  const items = schemaAt(schema, 'items')
  const properties = schemaAt(schema, 'properties')
  return [
    text(1, schema['$ref']),
    text(2, schema['format']),
    text(4, schema['description']),
    schema['default'] === undefined ? undefined : nested(5, anyMessage(schema['default'])),
    ...texts(19, schema['required']),
    ...(Array.isArray(schema['enum']) ? schema['enum'] : []).map((value: unknown) => nested(20, anyMessage(value))),
    additional === undefined ? undefined : nested(21, [nested(1, schemaMessage(additional))]),
    schema['type'] === undefined ? undefined : nested(22, [text(1, schema['type'])]),
    items === undefined ? undefined : nested(23, [nested(1, schemaMessage(items))]),
    properties === undefined ? undefined : nested(25, named(1, properties, schemaMessage)),
    ...extensions(31, schema),
  ]
}

function apiKey(definition: Schema): Part[] {
  return [
    nested(
      2,
      ['type', 'name', 'in', 'description'].map((member, index) => text(index + 1, definition[member])),
    ),
  ]
}

function extensions(field: number, source: Schema): Part[] {
  const members = Object.entries(source).filter(([name]) => name.startsWith('x-'))
  return members.map(([name, value]) => nested(field, [text(1, name), nested(2, anyMessage(value))]))
}

function anyMessage(value: unknown): Part[] {
  return [text(2, `${printJson(value)}\n`)]
}

function texts(field: number, values: unknown): Part[] {
  return Array.isArray(values) ? values.map((value: unknown) => text(field, value)) : []
}

function text(field: number, value: unknown): Part {
  return typeof value === 'string' && value !== '' ? delimited(field, utf8.encode(value)) : undefined
}

function flag(field: number, value: unknown): Part {
  return value === true ? Uint8Array.of(...varint(field << 3), 1) : undefined
}

function nested(field: number, parts: readonly Part[]): Uint8Array {
  return delimited(field, message(parts))
}

function message(parts: readonly Part[]): Uint8Array {
  let length = 0
  for (const part of parts) length += part?.length ?? 0
  const bytes = new Uint8Array(length)
  let offset = 0
  for (const part of parts) {
    if (part === undefined) continue
    bytes.set(part, offset)
    offset += part.length
  }
  return bytes
}

function delimited(field: number, content: Uint8Array): Uint8Array {
  const head = [...varint((field << 3) | 2), ...varint(content.length)]
  const bytes = new Uint8Array(head.length + content.length)
  bytes.set(head)
  bytes.set(content, head.length)
  return bytes
}

function varint(value: number): number[] {
  const bytes: number[] = []
  let rest = value
  for (; rest > 0x7f; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80)
  bytes.push(rest)
  return bytes
}
