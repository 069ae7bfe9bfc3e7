import type { CertificateMemory, Chance } from '@orch/platform'
import type { SimulatedNodeState } from '../nodes/open.ts'
import type { ServerBase } from '../server.ts'
import type { StartOptions } from './start-settings.ts'
import type { NamedUser } from './user.ts'
import type { OpenEndpoint, WebhookEndpoint } from './webhook-endpoint.ts'

/** The parts of a base that a fork takes over besides the stored objects. */
export interface Origin {
  /** All that the base was started with. */
  readonly options: StartOptions
  readonly certificates: CertificateMemory
  /** Draws the same values as the base from now on. */
  readonly chance: Chance
  readonly nodes: readonly SimulatedNodeState[]
  readonly users: readonly NamedUser[]
  /** The endpoint of webhooks that are installed from now on. */
  readonly endpoint: WebhookEndpoint | undefined
  /** Endpoints that installed webhooks call. */
  readonly endpoints: readonly OpenEndpoint[]
}

/** A server at a moment, and all else that a fork has of it. */
export interface Moment {
  readonly base: ServerBase
  readonly origin: Origin
}
