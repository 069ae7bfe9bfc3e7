/** A server of one's own, for tests and for programs that carry one inside. */
export { type VirtualClock, type VirtualClockOptions, virtualClock } from '@orch/platform'
export type { ServerNodes } from './nodes/open.ts'
export type { PodMetricsSource } from './start/pod-metrics.ts'
export { type RunningServer, start } from './start/start.ts'
export type { StartOptions } from './start/start-settings.ts'
export type { WebhookEndpoint, WebhookHandler } from './start/webhook-endpoint.ts'
