import type { CertificateMemory, Chance } from '@orch/platform'
import type { SimulatedNodeState } from '../nodes/open.ts'
import type { ServerBase } from '../server.ts'
import type { StartOptions, StartSettings } from './start-settings.ts'
import type { NamedUser } from './user.ts'
import type { OpenEndpoint, WebhookEndpoint } from './webhook-endpoint.ts'

/** The parts of a base that a fork takes over in addition to the stored objects. */
export interface Origin {
  /** The options with which the base started. */
  readonly options: StartOptions
  /** The settings by these options. */
  readonly settings: StartSettings
  readonly certificates: CertificateMemory
  /** Continues the base's sequence of random values. */
  readonly chance: Chance
  readonly nodes: readonly SimulatedNodeState[]
  readonly users: readonly NamedUser[]
  /** Endpoint for webhooks that are installed later. */
  readonly endpoint: WebhookEndpoint | undefined
  /** Endpoints of the installed webhooks. */
  readonly endpoints: readonly OpenEndpoint[]
}

/** A server's snapshot, and all further parts that a fork takes from it. */
export interface Moment {
  readonly base: ServerBase
  readonly origin: Origin
}
