/** protobuf */

export * from './decode.ts'
export * from './encode.ts'
export * from './envelope.ts'
export * from './event.ts'
export * from './list.ts'
export * from './meta-objects.ts'
export { MalformedProtobuf, Reader } from './reader.ts'
export * from './typed-object.ts'
export { Writer } from './writer.ts'
