/** Subscriptions to watch, shared among the clients of one gateway. */
export { eventDelays } from './event-delays.ts'
export { createWatchHub, type WatchAttachment, type WatchHub, type WatchHubOptions, type WatchSink } from './hub.ts'
export type { WatchHubLimits } from './limits.ts'
