/** The change stream on NATS. Only distributed services import it, because the library is slow to load. */
export type { ChangeListener, ChangeStream, LastMessage, PublishOptions } from './change-stream.ts'
export { createNats, type Nats, type NatsOptions } from './connection.ts'
export { createJetStream, type JetStreamOptions, streamName } from './jetstream.ts'
