import type { Client } from '@orch/client'
import type { NodesService } from '@orch/core/contracts'
import type { Chance } from '@orch/platform'
import type { CodeScript } from './code-scripts.ts'
import type { Following } from './following.ts'
import type { Measurements } from './measurements.ts'
import type { IpFamilies, NodeSettings } from './node-object.ts'

export interface NodesOptions extends Pick<Following, 'names' | 'clock' | 'log' | 'queues'> {
  readonly level: number
  readonly families: IpFamilies
  readonly client: Client
  /** A client with the identity of this node. */
  readonly clientFor: (node: string) => Client
  /** True with simulated volumes. */
  readonly hasVolumes: boolean
  readonly chance: Pick<Chance, 'fraction' | 'bytes' | 'uuid'>
  /** Scripts in code, the strongest first. They may be added and removed; a Pod keeps its initial ones. */
  readonly codeScripts: Iterable<CodeScript>
}

/** One simulated node for a test. */
export interface NodeHandle {
  readonly name: string
  readonly isRunning: boolean
  /** Switches the node off: its Lease expires, and its Pods stay unchanged. */
  stop(): void
  /** Switches it on again, or registers it again; resolves when it has reported. */
  start(): Promise<void>
  /** Switches it off permanently and deletes its Node. */
  delete(): Promise<void>
}

/** The simulated nodes of a server. */
export interface SimulatedNodes {
  /** Registers a node, unless it is off; resolves when it exists. An existing name is an error. */
  add(settings: NodeSettings, isOff?: boolean): Promise<NodeHandle>
  /** Undefined if no such node is simulated. */
  get(name: string): NodeHandle | undefined
  readonly names: readonly string[]
  /** Stops simulating all added nodes but these. A Node that asks for its simulation is simulated while it exists. */
  retain(names: ReadonlySet<string>): Promise<void>
  /** The connections to their Pods. */
  readonly service: NodesService
  readonly measurements: Measurements
  close(): Promise<void>
}
