/** A server of one's own, for tests and for programs that carry one inside. */

export type { LoggedRequest, RequestFilter, RequestMatch } from '@orch/gateway'
export { type VirtualClock, type VirtualClockOptions, virtualClock } from '@orch/platform'
export type { ServerNodes } from './nodes/open.ts'
export type { PodMetricsSource } from './start/pod-metrics.ts'
export type { Requests, ServerRequests } from './start/requests.ts'
export { type RunningServer, start } from './start/start.ts'
export type { StartOptions } from './start/start-settings.ts'
export type { ServerUser, UserOptions } from './start/user.ts'
export type { WebhookEndpoint, WebhookHandler } from './start/webhook-endpoint.ts'
