/** Storage's changes on their way to NATS. */
export type { PublisherLimits } from './limits.ts'
export { createPublisher, type Publisher, type PublisherOptions } from './publisher.ts'
