/** Protobuf for messages other than API objects: calls between services and to etcd and NATS. */
export { MalformedProtobuf, Reader, wireTypes } from './reader.ts'
export { Writer } from './writer.ts'
