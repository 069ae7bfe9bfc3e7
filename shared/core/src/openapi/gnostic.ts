import { memo } from '@orch/cel/memo'
import { runAtOnce, StepMeter, type Steps } from '../steps.ts'
import {
  all,
  any,
  anything,
  delimited,
  type Encode,
  encodeInSteps,
  flag,
  many,
  map,
  messageOf,
  namedValues,
  namesOnly,
  one,
  text,
  texts,
  within,
} from './gnostic-message.ts'
import type { Schema } from './schemas.ts'
import type { OpenApi2 } from './v2.ts'

/** Encodes an OpenAPI 2 document as the Protobuf message `openapi.v2.Document`, which kubectl reads. Maps become lists of named values. */
export function encodeOpenApi2(document: OpenApi2): Uint8Array {
  return runAtOnce(encodeOpenApi2InSteps(document))
}

/** Like `encodeOpenApi2`, with pauses between paths and schemas. */
export function encodeOpenApi2InSteps(document: OpenApi2): Steps<Uint8Array> {
  return encodeInSteps(documentMessage, { ...document })
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
  return encodeMapInSteps(9, 1, definitions, schema)
}

/** A map of a document, with a separate field per member. An empty map is omitted. */
function encodeMapInSteps(field: number, memberField: number, values: Schema, encode: Encode): Steps<Uint8Array> {
  const members: Encode = (given, meter) => namedValues(memberField, given, encode, meter)
  return encodeInSteps(Object.keys(values).length === 0 ? members : within(field, members), values)
}

const documentMessage = messageOf(() => ({
  swagger: [1, text],
  info: [2, one(messageOf(() => all(text, { title: 1, version: 2 })))],
  paths: [8, map(2, pathItem)],
  definitions: [9, map(1, schema)],
  parameters: [10, map(1, parameter)],
  security: [12, many(namesOnly)],
  securityDefinitions: [13, map(1, within(2, apiKey))],
}))

const pathItem = messageOf(
  () => ({
    ...all(one(operation), { get: 2, put: 3, post: 4, delete: 5, options: 6, head: 7, patch: 8 }),
    parameters: [9, many(parameterItem)],
  }),
  10,
)

const operation = messageOf(
  () => ({
    tags: [1, texts],
    ...all(text, { description: 3, operationId: 5 }),
    ...all(texts, { produces: 6, consumes: 7 }),
    parameters: [8, many(parameterItem)],
    responses: [9, map(1, within(1, response))],
    schemes: [10, texts],
  }),
  13,
)

/** A response contains its schema two levels down, because it could also be a file. */
const response = messageOf(() => ({ description: [1, text], schema: [2, one(within(1, schema))] }))

function* parameterItem(given: Schema, meter: StepMeter): Steps<string> {
  return given['in'] === 'body' ? delimited(1, yield* parameter(given, meter)) : plainItem(given)
}

/** Path items are cached, since the parameters of custom kinds' operations are mostly the same. */
const plainItem = memo((given: Schema): string => {
  const encode = given['$ref'] === undefined ? within(1, parameter) : within(2, reference)
  return runAtOnce(encode(given, new StepMeter(Infinity)))
})

const reference = messageOf(() => ({ $ref: [1, text] }))

/** A query parameter has one more field before the type than a path parameter. */
const plainParameter = ({ type, uniqueItems }: { readonly type: number; readonly uniqueItems: number }): Encode =>
  messageOf(() => ({
    required: [1, flag],
    ...all(text, { in: 2, description: 3, name: 4, type }),
    uniqueItems: [uniqueItems, flag],
  }))

const bodyParameter = within(
  1,
  messageOf(() => ({ ...all(text, { description: 1, name: 2, in: 3 }), required: [4, flag], schema: [5, one(schema)] })),
)
const pathParameter = within(2, within(4, plainParameter({ type: 5, uniqueItems: 19 })))
const queryParameter = within(2, within(3, plainParameter({ type: 6, uniqueItems: 20 })))

const parameter: Encode = (given, meter) => {
  const encode = given['in'] === 'body' ? bodyParameter : given['in'] === 'path' ? pathParameter : queryParameter
  return encode(given, meter)
}

const schema: Encode = messageOf(
  () => ({
    ...all(text, { $ref: 1, format: 2, description: 4 }),
    default: [5, any],
    required: [19, texts],
    enum: [20, anything],
    additionalProperties: [21, one(within(1, schema))],
    type: [22, (field, value) => delimited(field, text(1, value) ?? '')],
    items: [23, one(within(1, schema))],
    properties: [25, map(1, schema)],
  }),
  31,
)

const apiKey = messageOf(() => all(text, { type: 1, name: 2, in: 3, description: 4 }))
