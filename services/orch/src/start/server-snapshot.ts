import type { CertificateMemory, Chance } from '@orch/platform'
import { SettingsError } from '@orch/platform'
import type { StateSnapshot } from '@orch/storage'
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
  /** Draws from now on what the base draws from now on. */
  readonly chance: Chance
  readonly nodes: readonly SimulatedNodeState[]
  readonly users: readonly NamedUser[]
  /** The endpoint of webhooks that are installed from now on. */
  readonly endpoint: WebhookEndpoint | undefined
  /** Endpoints that installed webhooks call. */
  readonly endpoints: readonly OpenEndpoint[]
}

/** A server at a moment: what it has stored, its history, users and keys. */
export class ServerSnapshot implements StateSnapshot {
  readonly base: ServerBase
  readonly origin: Origin

  constructor(base: ServerBase, origin: Origin) {
    this.base = base
    this.origin = origin
  }

  get revision(): number {
    return this.base.snapshot.revision
  }
}

/** The server's own class behind the snapshot of a caller. */
export function readSnapshot(snapshot: StateSnapshot): ServerSnapshot {
  if (!(snapshot instanceof ServerSnapshot)) throw new TypeError('a snapshot is made by server.snapshot()')
  return snapshot
}

/** Options of which the objects of a start and the stored form of objects depend: with others a fork is a restart of the base with other settings. */
const shaping = [
  'version',
  'featureGates',
  'runtimeConfig',
  'serviceClusterIpRange',
  'serviceNodePortRange',
  'flags',
] as const satisfies readonly (keyof StartOptions)[]

/** The options of a fork. */
export interface ForkSettings {
  /** The options of the base, with the given ones in their places. */
  readonly options: StartOptions
  /** False: a given option changes what a start makes, so that the state is read as after a restart. */
  readonly isSame: boolean
}

/** Joins the options of a fork with those of its base. Throws for those that no fork can change. */
export function readForkOptions({ origin }: ServerSnapshot, { from: _, ...given }: StartOptions): ForkSettings {
  const base = origin.options
  if (given.profile !== undefined && given.profile !== (base.profile ?? 'orch'))
    throw new SettingsError(
      `profile: ${given.profile}: the stored objects have the names of profile ${base.profile ?? 'orch'}; start a server without from`,
    )
  if (given.clock !== undefined && given.clock.isVirtual !== (base.clock?.isVirtual ?? false))
    throw new SettingsError('clock: a fork has a virtual clock if its base has one: certificates and times are those of the base')
  const isSame = shaping.every((name) => given[name] === undefined || JSON.stringify(given[name]) === JSON.stringify(base[name]))
  // Definitions and webhooks of the base are stored.
  const { crds: _crds, webhooks: _webhooks, ...others } = base
  return { options: { ...others, ...given }, isSame }
}
