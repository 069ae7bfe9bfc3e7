/** Changes from the published stream, with storage behind it. */
export { type ChangeFeed, type ChangeFeedOptions, createChangeFeed } from './feed.ts'
export { defaultFeedLimits, type FeedLimits } from './limits.ts'
