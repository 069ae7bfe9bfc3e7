import type { Steps } from '../steps.ts'
import {
  all,
  anything,
  binary,
  bytesText,
  delimited,
  type Encode,
  encodeInSteps,
  flag,
  many,
  map,
  messageOf,
  namesOnly,
  one,
  text,
  texts,
  truth,
  varint,
  within,
} from './gnostic-message.ts'
import type { Schema } from './schemas.ts'

/** Encodes the JSON of an OpenAPI 3 document as the Protobuf message `openapi.v3.Document`, with pauses between paths and schemas. */
export function encodeOpenApi3InSteps(document: Schema): Steps<Uint8Array> {
  return encodeInSteps(documentMessage, document)
}

const documentMessage = messageOf(() => ({
  openapi: [1, text],
  info: [2, one(messageOf(() => all(text, { title: 1, description: 2, version: 6 })))],
  paths: [4, map(1, pathItem)],
  components: [
    5,
    one(messageOf(() => ({ schemas: [1, map(1, schemaOrReference)], securitySchemes: [7, map(1, within(1, securityScheme))] }))),
  ],
  security: [6, many(namesOnly)],
}))

const pathItem = messageOf(
  () => ({
    ...all(text, { summary: 2, description: 3 }),
    ...all(one(operation), { get: 4, put: 5, post: 6, delete: 7, options: 8, head: 9, patch: 10, trace: 11 }),
    parameters: [13, many(within(1, parameter))],
  }),
  14,
)

const operation = messageOf(
  () => ({
    tags: [1, texts],
    ...all(text, { summary: 2, description: 3, operationId: 5 }),
    parameters: [6, many(within(1, parameter))],
    requestBody: [7, one(within(1, requestBody))],
    responses: [8, map(2, within(1, response))],
    deprecated: [10, flag],
  }),
  13,
)

const parameter = messageOf(
  () => ({ ...all(text, { name: 1, in: 2, description: 3 }), required: [4, flag], schema: [10, one(schemaOrReference)] }),
  14,
)

const requestBody = messageOf(() => ({ description: [1, text], content: [2, map(1, mediaType)], required: [3, flag] }), 4)
const response = messageOf(() => ({ description: [1, text], content: [3, map(1, mediaType)] }), 5)
const mediaType = messageOf(() => ({ schema: [1, one(schemaOrReference)] }), 5)

/** A reference has no siblings. */
const schemaOrReference: Encode = (given, meter) => (given['$ref'] === undefined ? schema : reference)(given, meter)

const reference = within(
  2,
  messageOf(() => ({ $ref: [1, text] })),
)

const ofSchema: Encode = messageOf(
  () => ({
    ...all(flag, { nullable: 1, deprecated: 8, exclusiveMaximum: 12, exclusiveMinimum: 14, uniqueItems: 20 }),
    ...all(double, { multipleOf: 10, maximum: 11, minimum: 13 }),
    ...all(integer, { maxLength: 15, minLength: 16, maxItems: 18, minItems: 19, maxProperties: 21, minProperties: 22 }),
    required: [23, texts],
    enum: [24, anything],
    ...all(text, { title: 9, pattern: 17, type: 25, description: 34, format: 35 }),
    ...all(many(schemaOrReference), { allOf: 26, oneOf: 27, anyOf: 28 }),
    not: [29, one(ofSchema)],
    items: [30, inner],
    properties: [31, map(1, schemaOrReference)],
    additionalProperties: [
      32,
      (field, value, meter) => (typeof value === 'boolean' ? delimited(field, truth(2, value)) : inner(field, value, meter)),
    ],
    default: [33, (field, value) => (isScalar(value) ? delimited(field, scalar(value)) : undefined)],
  }),
  36,
)

const schema = within(1, ofSchema)
const inner = one(within(1, schemaOrReference))

/** Other values of a default cannot be represented. */
function isScalar(value: unknown): value is number | boolean | string {
  return ['number', 'boolean', 'string'].includes(typeof value)
}

function scalar(value: number | boolean | string): string {
  if (typeof value === 'string') return delimited(3, binary(value))
  return typeof value === 'boolean' ? truth(2, value) : (double(1, value) ?? '')
}

function double(field: number, value: unknown): string | undefined {
  if (typeof value !== 'number') return undefined
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setFloat64(0, value, true)
  return `${varint((field << 3) | 1)}${bytesText(bytes)}`
}

function integer(field: number, value: unknown): string | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? `${varint(field << 3)}${varint(value)}` : undefined
}

const securityScheme = messageOf(() => all(text, { type: 1, description: 2, name: 3, in: 4 }))
