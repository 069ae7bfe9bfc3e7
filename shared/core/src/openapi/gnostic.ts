import { isJsonObject } from '../json/member.ts'
import { printJson } from '../json/print.ts'
import { runAtOnce, StepMeter, type Steps } from '../steps.ts'
import type { Schema } from './schemas.ts'
import type { OpenApi2 } from './v2.ts'

/**
 * An OpenAPI 2 document as the Protobuf message that command-line clients read (`openapi.v2.Document`).
 * Maps become lists of named values; members that begin with `x-` become extensions in YAML, of which JSON is a part.
 */
export function encodeOpenApi2(document: OpenApi2): Uint8Array {
  return runAtOnce(encodeOpenApi2InSteps(document))
}

/** As `encodeOpenApi2`, with pauses between paths and schemas. */
export function* encodeOpenApi2InSteps(document: OpenApi2): Steps<Uint8Array> {
  const { swagger, info, paths, definitions, parameters, securityDefinitions, security } = document
  const meter = new StepMeter(partsPerStep)
  const head = message([
    text(1, swagger),
    nested(2, [text(1, info.title), text(2, info.version)]),
    nested(8, yield* namedInSteps(2, paths, pathItem, meter)),
    nested(9, yield* namedInSteps(1, definitions, schemaMessage, meter)),
    nested(10, yield* namedInSteps(1, parameters, parameterMessage, meter)),
  ])
  const requirements = security.map((requirement) =>
    nested(
      12,
      Object.keys(requirement).map((name) => namedValue(1, name, '')),
    ),
  )
  const schemes = Object.entries(securityDefinitions).map(([name, scheme]) => namedValue(1, name, apiKey(scheme)))
  yield
  return yield* bytesInSteps(message([head, ...requirements, nested(13, schemes)]))
}

/**
 * What paths add to an encoded document that stands before them: messages that lie one behind the other are read as one, with the members
 * of their maps one behind the other.
 */
export function encodePathsInSteps(paths: OpenApi2['paths']): Steps<Uint8Array> {
  return encodeMapInSteps(8, 2, paths, pathItem)
}

/** What definitions add, as `encodePathsInSteps`. */
export function encodeDefinitionsInSteps(definitions: OpenApi2['definitions']): Steps<Uint8Array> {
  return encodeMapInSteps(9, 1, definitions, schemaMessage)
}

/** A map of a document, in a field of its own for each member. Nothing for an empty one. */
function* encodeMapInSteps(field: number, memberField: number, values: Schema, encode: Encode): Steps<Uint8Array> {
  const members = yield* namedInSteps(memberField, values, encode, new StepMeter(partsPerStep))
  return yield* bytesInSteps(members.length === 0 ? '' : nested(field, members))
}

/** Paths and schemas that are encoded in one step. */
const partsPerStep = 100
/** Bytes that are written in one step. */
const bytesPerStep = 512 * 1024

/** The object in a member of a document's part. */
function schemaAt(part: Schema, name: string): Schema | undefined {
  const value = part[name]
  return isJsonObject(value) ? value : undefined
}

/**
 * Fields of a message, encoded, in a text that has a character for each byte: texts are joined without being copied each time, and become
 * bytes at the end. Undefined: left out.
 */
type Part = string | undefined

/** The message of a member. */
type Encode = (value: Schema, meter: StepMeter) => Steps<string>

function* namedInSteps(field: number, values: Schema, encode: Encode, meter: StepMeter): Steps<Part[]> {
  const parts: Part[] = []
  for (const [name, value] of Object.entries(values)) {
    parts.push(namedValue(field, name, yield* encode(isJsonObject(value) ? value : {}, meter)))
    if (meter.isFull()) yield
  }
  return parts
}

function namedValue(field: number, name: string, value: string): string {
  return nested(field, [text(1, name), delimited(2, value)])
}

const methodFields: Readonly<Record<string, number>> = { get: 2, put: 3, post: 4, delete: 5, options: 6, head: 7, patch: 8 }

function* pathItem(item: Schema, meter: StepMeter): Steps<string> {
  const parts: Part[] = []
  for (const [method, field] of Object.entries(methodFields)) {
    const operation = schemaAt(item, method)
    if (operation !== undefined) parts.push(delimited(field, yield* operationMessage(operation, meter)))
  }
  return message([...parts, ...(yield* parametersItems(9, item['parameters'], meter)), ...extensions(10, item)])
}

function* operationMessage(operation: Schema, meter: StepMeter): Steps<string> {
  return message([
    ...texts(1, operation['tags']),
    text(3, operation['description']),
    text(5, operation['operationId']),
    ...texts(6, operation['produces']),
    ...texts(7, operation['consumes']),
    ...(yield* parametersItems(8, operation['parameters'], meter)),
    nested(9, yield* namedInSteps(1, schemaAt(operation, 'responses') ?? {}, responseMessage, meter)),
    ...texts(10, operation['schemes']),
    ...extensions(13, operation),
  ])
}

/** A response has its schema two levels down: it could also be a file. */
function* responseMessage(response: Schema, meter: StepMeter): Steps<string> {
  const schema = schemaAt(response, 'schema')
  const described = schema && nested(2, [delimited(1, yield* schemaMessage(schema, meter))])
  return nested(1, [text(1, response['description']), described])
}

function* parametersItems(field: number, parameters: unknown, meter: StepMeter): Steps<Part[]> {
  const items: Part[] = []
  for (const parameter of Array.isArray(parameters) ? parameters : []) items.push(delimited(field, yield* parameterItem(parameter, meter)))
  return items
}

/** Operations share parameters: most of what a document of custom kinds says of paths. */
const parameterItems = new WeakMap<Schema, string>()

function* parameterItem(parameter: Schema, meter: StepMeter): Steps<string> {
  const reference = parameter['$ref']
  const item =
    parameterItems.get(parameter) ??
    (reference === undefined ? delimited(1, yield* parameterMessage(parameter, meter)) : nested(2, [text(1, reference)]))
  parameterItems.set(parameter, item)
  return item
}

function* parameterMessage(parameter: Schema, meter: StepMeter): Steps<string> {
  switch (parameter['in']) {
    case 'body':
      return delimited(1, yield* bodyParameter(parameter, meter))
    case 'path':
      return nested(2, [nested(4, plainParameter(parameter, { type: 5, uniqueItems: 19 }))])
    default:
      return nested(2, [nested(3, plainParameter(parameter, { type: 6, uniqueItems: 20 }))])
  }
}

function* bodyParameter(parameter: Schema, meter: StepMeter): Steps<string> {
  const schema = delimited(5, yield* schemaMessage(schemaAt(parameter, 'schema') ?? {}, meter))
  const { description, name, in: place, required } = parameter
  return message([text(1, description), text(2, name), text(3, place), flag(4, required), schema])
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

function* schemaMessage(schema: Schema, meter: StepMeter): Steps<string> {
  const additional = schemaAt(schema, 'additionalProperties')
  const items = schemaAt(schema, 'items')
  const properties = schemaAt(schema, 'properties')
  return message([
    text(1, schema['$ref']),
    text(2, schema['format']),
    text(4, schema['description']),
    schema['default'] === undefined ? undefined : nested(5, anyMessage(schema['default'])),
    ...texts(19, schema['required']),
    ...(Array.isArray(schema['enum']) ? schema['enum'] : []).map((value: unknown) => nested(20, anyMessage(value))),
    additional && nested(21, [delimited(1, yield* schemaMessage(additional, meter))]),
    schema['type'] === undefined ? undefined : nested(22, [text(1, schema['type'])]),
    items && nested(23, [delimited(1, yield* schemaMessage(items, meter))]),
    properties && nested(25, yield* namedInSteps(1, properties, schemaMessage, meter)),
    ...extensions(31, schema),
  ])
}

function apiKey(definition: unknown): string {
  const members = isJsonObject(definition) ? definition : {}
  return nested(
    2,
    ['type', 'name', 'in', 'description'].map((member, index) => text(index + 1, members[member])),
  )
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

const utf8 = new TextEncoder()

function text(field: number, value: unknown): Part {
  return typeof value === 'string' && value !== '' ? delimited(field, binary(value)) : undefined
}

/** Most texts are their own bytes. */
function binary(value: string): string {
  if (isAscii(value)) return value
  const bytes = utf8.encode(value)
  let content = ''
  for (let from = 0; from < bytes.length; from += argumentsMax) content += String.fromCharCode(...bytes.subarray(from, from + argumentsMax))
  return content
}

/** A call takes a bounded number of arguments. */
const argumentsMax = 8_192

function isAscii(value: string): boolean {
  return !/[^\0-\x7f]/.test(value)
}

function flag(field: number, value: unknown): Part {
  return value === true ? `${varint(field << 3)}\x01` : undefined
}

function nested(field: number, parts: readonly Part[]): string {
  return delimited(field, message(parts))
}

function message(parts: readonly Part[]): string {
  let content = ''
  for (const part of parts) if (part !== undefined) content += part
  return content
}

function delimited(field: number, content: string): string {
  return varint((field << 3) | 2) + varint(content.length) + content
}

function varint(value: number): string {
  let bytes = ''
  let rest = value
  for (; rest > 0x7f; rest >>>= 7) bytes += String.fromCharCode((rest & 0x7f) | 0x80)
  return bytes + String.fromCharCode(rest)
}

function* bytesInSteps(content: string): Steps<Uint8Array> {
  const bytes = new Uint8Array(content.length)
  for (let from = 0; from < content.length; from += bytesPerStep) {
    if (from > 0) yield
    const to = Math.min(content.length, from + bytesPerStep)
    for (let at = from; at < to; at++) bytes[at] = content.charCodeAt(at)
  }
  return bytes
}
