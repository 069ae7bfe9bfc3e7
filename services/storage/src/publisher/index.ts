/** Publishes storage's changes to NATS. */
export type { PublisherLimits } from './limits.ts'
export { createPublisher, type PublisherOptions } from './publisher.ts'
