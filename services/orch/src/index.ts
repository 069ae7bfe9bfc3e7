/** A server of one's own, for tests and for programs that carry one inside. */
export { type RunningServer, start } from './start.ts'
export type { StartOptions } from './start-settings.ts'
export type { WebhookEndpoint, WebhookHandler } from './testing/webhook-endpoint.ts'
