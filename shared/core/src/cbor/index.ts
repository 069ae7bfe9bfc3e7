/** CBOR. */

export { type ByteFields, byteFieldsOf } from './byte-fields.ts'
export * from './encode.ts'
export { type CborReading, cborToJson } from './to-json.ts'
