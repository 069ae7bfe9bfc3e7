/** The change stream on NATS. Imported only where services are apart: the library costs time to load. */
export type { ChangeListener, ChangeStream, LastMessage, PublishOptions } from './change-stream.ts'
export { createNats, type Nats, type NatsOptions } from './connection.ts'
export { createJetStream, type JetStreamOptions, streamName } from './jetstream.ts'
