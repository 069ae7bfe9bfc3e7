import { memo } from '@orch/cel/memo'
import { isJsonObject } from '../json/member.ts'
import { runAtOnce, StepMeter, type Steps } from '../steps.ts'
import {
  anyMessage,
  bytesInSteps,
  delimited,
  type Encode,
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
} from './gnostic-message.ts'
import type { Schema } from './schemas.ts'
import type { OpenApi2 } from './v2.ts'

/**
 * Encodes an OpenAPI 2 document as the Protobuf message `openapi.v2.Document`, which kubectl reads.
 * Maps become lists of named values. Members that begin with `x-` become extensions in YAML, a superset of JSON.
 */
export function encodeOpenApi2(document: OpenApi2): Uint8Array {
  return runAtOnce(encodeOpenApi2InSteps(document))
}

/** Like `encodeOpenApi2`, with pauses between paths and schemas. */
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
 * Encodes additional paths to put before an encoded document: consecutive messages are read as one, whose
 * maps are joined.
 */
export function encodePathsInSteps(paths: OpenApi2['paths']): Steps<Uint8Array> {
  return encodeMapInSteps(8, 2, paths, pathItem)
}

/** Encodes additional definitions, like `encodePathsInSteps`. */
export function encodeDefinitionsInSteps(definitions: OpenApi2['definitions']): Steps<Uint8Array> {
  return encodeMapInSteps(9, 1, definitions, schemaMessage)
}

/** A map of a document, with a separate field per member. An empty map is omitted. */
function* encodeMapInSteps(field: number, memberField: number, values: Schema, encode: Encode): Steps<Uint8Array> {
  const members = yield* namedInSteps(memberField, values, encode, new StepMeter(partsPerStep))
  return yield* bytesInSteps(members.length === 0 ? '' : nested(field, members))
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

/** A response contains its schema two levels down, because it could also be a file. */
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

function* parameterItem(parameter: Schema, meter: StepMeter): Steps<string> {
  return parameter['in'] === 'body' ? delimited(1, yield* parameterMessage(parameter, meter)) : plainItem(parameter)
}

/** Path items are cached, since the parameters of custom kinds' operations are mostly the same. */
const plainItem = memo((parameter: Schema): string => {
  const reference = parameter['$ref']
  return reference === undefined ? delimited(1, plainMessage(parameter)) : nested(2, [text(1, reference)])
})

function* parameterMessage(parameter: Schema, meter: StepMeter): Steps<string> {
  return parameter['in'] === 'body' ? delimited(1, yield* bodyParameter(parameter, meter)) : plainMessage(parameter)
}

function plainMessage(parameter: Schema): string {
  return parameter['in'] === 'path'
    ? nested(2, [nested(4, plainParameter(parameter, { type: 5, uniqueItems: 19 }))])
    : nested(2, [nested(3, plainParameter(parameter, { type: 6, uniqueItems: 20 }))])
}

function* bodyParameter(parameter: Schema, meter: StepMeter): Steps<string> {
  const schema = delimited(5, yield* schemaMessage(schemaAt(parameter, 'schema') ?? {}, meter))
  const { description, name, in: place, required } = parameter
  return message([text(1, description), text(2, name), text(3, place), flag(4, required), schema])
}

/** A query parameter has one more field before the type than a path parameter. */
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
