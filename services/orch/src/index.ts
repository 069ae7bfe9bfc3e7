/** A server in the caller's process, for tests and for programs that embed one. */

export type { LoggedRequest } from '@orch/core/contracts'
export type {
  CutScope,
  Effect,
  Fault,
  FaultHandle,
  FaultMatch,
  FreezeStrength,
  FrozenReads,
  RefuseOptions,
  RequestFilter,
  RequestMatch,
  TextMatch,
  WatchFault,
  WatchMatch,
} from '@orch/gateway'
export { blackHole, cut, delay, hang, loseReply, refuse, refuseConnection, truncate } from '@orch/gateway'
export { type VirtualClock, type VirtualClockOptions, virtualClock } from '@orch/platform'
export type { ServerNodes } from './nodes/open.ts'
export type { ServerPast } from './start/past.ts'
export type { Requests, ServerRequests } from './start/requests.ts'
export type { MetricsSource } from './start/server-metrics.ts'
export { loadSnapshot, type Snapshot } from './start/server-snapshot.ts'
export { type HotLoopOptions, type RunningServer, start } from './start/start.ts'
export type { HistoryOption, StartOptions } from './start/start-settings.ts'
export type { ServerFaults, ServerUser, UserOptions } from './start/user.ts'
export type { UserFaults, UserReads, UserScenarios, UserWatches } from './start/user-weather.ts'
export type { WebhookEndpoint, WebhookHandler } from './start/webhook-endpoint.ts'
