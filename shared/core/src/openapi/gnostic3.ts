import { isJsonObject, objectsIn } from '../json/member.ts'
import { runAtOnce, StepMeter, type Steps } from '../steps.ts'
import {
  anyMessage,
  binary,
  bytesInSteps,
  delimited,
  extensions,
  flag,
  message,
  namedInSteps,
  namedValue,
  nested,
  type Part,
  partsPerStep,
  schemaAt,
  text,
  texts,
  varint,
} from './gnostic-message.ts'
import type { Schema } from './schemas.ts'

/** Encodes the JSON of an OpenAPI 3 document as the Protobuf message `openapi.v3.Document`. */
export function encodeOpenApi3(document: Schema): Uint8Array {
  return runAtOnce(encodeOpenApi3InSteps(document))
}

/** Like `encodeOpenApi3`, with pauses between paths and schemas. */
export function* encodeOpenApi3InSteps(document: Schema): Steps<Uint8Array> {
  const meter = new StepMeter(partsPerStep)
  const info = schemaAt(document, 'info') ?? {}
  const components = schemaAt(document, 'components') ?? {}
  const schemes = Object.entries(schemaAt(components, 'securitySchemes') ?? {})
  const content = message([
    text(1, document['openapi']),
    nested(2, [text(1, info['title']), text(2, info['description']), text(6, info['version'])]),
    nested(4, yield* namedInSteps(1, schemaAt(document, 'paths') ?? {}, pathItem, meter)),
    nested(5, [
      nested(1, yield* namedInSteps(1, schemaAt(components, 'schemas') ?? {}, schemaOrReference, meter)),
      schemes.length === 0
        ? undefined
        : nested(
            7,
            schemes.map(([name, scheme]) => namedValue(1, name, securityScheme(scheme))),
          ),
    ]),
    ...objectsIn(document['security']).map((requirement) =>
      nested(
        6,
        Object.keys(requirement).map((name) => namedValue(1, name, '')),
      ),
    ),
  ])
  yield
  return yield* bytesInSteps(content)
}

const methodFields: Readonly<Record<string, number>> = { get: 4, put: 5, post: 6, delete: 7, options: 8, head: 9, patch: 10, trace: 11 }

function* pathItem(item: Schema, meter: StepMeter): Steps<string> {
  const parts: Part[] = [text(2, item['summary']), text(3, item['description'])]
  for (const [method, field] of Object.entries(methodFields)) {
    const operation = schemaAt(item, method)
    if (operation !== undefined) parts.push(delimited(field, yield* operationMessage(operation, meter)))
  }
  return message([...parts, ...(yield* parameters(13, item['parameters'], meter)), ...extensions(14, item)])
}

function* operationMessage(operation: Schema, meter: StepMeter): Steps<string> {
  const body = schemaAt(operation, 'requestBody')
  return message([
    ...texts(1, operation['tags']),
    text(2, operation['summary']),
    text(3, operation['description']),
    text(5, operation['operationId']),
    ...(yield* parameters(6, operation['parameters'], meter)),
    body && nested(7, [delimited(1, yield* requestBody(body, meter))]),
    nested(8, yield* namedInSteps(2, schemaAt(operation, 'responses') ?? {}, response, meter)),
    flag(10, operation['deprecated']),
    ...extensions(13, operation),
  ])
}

function* parameters(field: number, given: unknown, meter: StepMeter): Steps<Part[]> {
  const parts: Part[] = []
  for (const parameter of objectsIn(given)) {
    const schema = schemaAt(parameter, 'schema')
    const described = [
      text(1, parameter['name']),
      text(2, parameter['in']),
      text(3, parameter['description']),
      flag(4, parameter['required']),
      schema && delimited(10, yield* schemaOrReference(schema, meter)),
      ...extensions(14, parameter),
    ]
    parts.push(nested(field, [nested(1, described)]))
  }
  return parts
}

function* requestBody(body: Schema, meter: StepMeter): Steps<string> {
  return message([text(1, body['description']), yield* mediaTypes(2, body, meter), flag(3, body['required']), ...extensions(4, body)])
}

function* response(given: Schema, meter: StepMeter): Steps<string> {
  return nested(1, [text(1, given['description']), yield* mediaTypes(3, given, meter), ...extensions(5, given)])
}

function* mediaTypes(field: number, owner: Schema, meter: StepMeter): Steps<Part> {
  const content = schemaAt(owner, 'content')
  return content && nested(field, yield* namedInSteps(1, content, mediaType, meter))
}

function* mediaType(given: Schema, meter: StepMeter): Steps<string> {
  const schema = schemaAt(given, 'schema')
  return message([schema && delimited(1, yield* schemaOrReference(schema, meter)), ...extensions(5, given)])
}

/** A reference has no siblings. */
function* schemaOrReference(schema: Schema, meter: StepMeter): Steps<string> {
  const reference = schema['$ref']
  return reference === undefined ? delimited(1, yield* schemaMessage(schema, meter)) : nested(2, [text(1, reference)])
}

const flags: Readonly<Record<string, number>> = { nullable: 1, deprecated: 8, exclusiveMaximum: 12, exclusiveMinimum: 14, uniqueItems: 20 }
const doubles: Readonly<Record<string, number>> = { multipleOf: 10, maximum: 11, minimum: 13 }
const integers: Readonly<Record<string, number>> = {
  maxLength: 15,
  minLength: 16,
  maxItems: 18,
  minItems: 19,
  maxProperties: 21,
  minProperties: 22,
}
const junctors: Readonly<Record<string, number>> = { allOf: 26, oneOf: 27, anyOf: 28 }

function* schemaMessage(schema: Schema, meter: StepMeter): Steps<string> {
  const negated = schemaAt(schema, 'not')
  const items = schemaAt(schema, 'items')
  const properties = schemaAt(schema, 'properties')
  const parts: Part[] = [text(9, schema['title']), text(17, schema['pattern']), ...texts(23, schema['required'])]
  for (const [name, field] of Object.entries(flags)) parts.push(flag(field, schema[name]))
  for (const [name, field] of Object.entries(doubles)) parts.push(double(field, schema[name]))
  for (const [name, field] of Object.entries(integers)) parts.push(integer(field, schema[name]))
  for (const value of Array.isArray(schema['enum']) ? schema['enum'] : []) parts.push(nested(24, anyMessage(value)))
  parts.push(text(25, schema['type']))
  for (const [name, field] of Object.entries(junctors)) {
    for (const part of objectsIn(schema[name])) parts.push(delimited(field, yield* schemaOrReference(part, meter)))
  }
  if (negated !== undefined) parts.push(delimited(29, yield* schemaMessage(negated, meter)))
  if (items !== undefined) parts.push(nested(30, [delimited(1, yield* schemaOrReference(items, meter))]))
  if (properties !== undefined) parts.push(nested(31, yield* namedInSteps(1, properties, schemaOrReference, meter)))
  parts.push(yield* additionalProperties(schema['additionalProperties'], meter))
  parts.push(defaultValue(schema['default']), text(34, schema['description']), text(35, schema['format']), ...extensions(36, schema))
  return message(parts)
}

function* additionalProperties(given: unknown, meter: StepMeter): Steps<Part> {
  if (typeof given === 'boolean') return nested(32, [`${varint(2 << 3)}${given ? '\x01' : '\0'}`])
  return isJsonObject(given) ? nested(32, [delimited(1, yield* schemaOrReference(given, meter))]) : undefined
}

/** The message cannot represent values of other types. */
function defaultValue(value: unknown): Part {
  switch (typeof value) {
    case 'number':
      return nested(33, [double(1, value)])
    case 'boolean':
      return nested(33, [`${varint(2 << 3)}${value ? '\x01' : '\0'}`])
    case 'string':
      return nested(33, [delimited(3, binary(value))])
    default:
      return undefined
  }
}

function double(field: number, value: unknown): Part {
  if (typeof value !== 'number') return undefined
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setFloat64(0, value, true)
  return `${varint((field << 3) | 1)}${bytesText(bytes)}`
}

function integer(field: number, value: unknown): Part {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? `${varint(field << 3)}${longVarint(value)}` : undefined
}

/** Encodes numbers beyond 32 bits, where shifts do not work. */
function longVarint(value: number): string {
  let bytes = ''
  let rest = value
  for (; rest > 0x7f; rest = Math.floor(rest / 0x80)) bytes += String.fromCharCode((rest % 0x80) | 0x80)
  return bytes + String.fromCharCode(rest)
}

function bytesText(bytes: Uint8Array): string {
  let content = ''
  for (const byte of bytes) content += String.fromCharCode(byte)
  return content
}

function securityScheme(scheme: unknown): string {
  const members = isJsonObject(scheme) ? scheme : {}
  return nested(
    1,
    ['type', 'description', 'name', 'in'].map((member, index) => text(index + 1, members[member])),
  )
}
