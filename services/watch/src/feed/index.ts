/** Changes from the published stream, with storage behind it. */
export { type ChangeFeed, type ChangeFeedOptions, createChangeFeed } from './feed.ts'
export type { FeedLimits } from './limits.ts'
