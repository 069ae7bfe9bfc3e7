import { createClient } from '@orch/client'
import { type ControllerName, type ControllersOptions, type SecretTokenOptions, usualNamespaceDelayMs } from '@orch/controllers'
import { aborted, createLifecycle, type KeyPair, requestSigner } from '@orch/platform'
import { ofProgram, programOf } from '../controllers/client.ts'
import { type Identity, runControllers, serverIdentity } from '../controllers/open.ts'
import { readControllerOptions, readControllers, readSecretTokens, readSigningAuthority } from '../controllers/settings.ts'
import { readerOf } from '../settings/general.ts'
import type { Surroundings } from '../surroundings.ts'
import { actingAs, type GatewaysOptions, openGateways, readGateways, runLed } from './gateways.ts'
import { assembleReplica, type Replica, type ReplicaOptions } from './replica.ts'
import { serviceCommand } from './run-service.ts'
import { controllersCommandSettings } from './settings.ts'

/** `orch controllers`: keeps objects in their wanted state, as a client of the gateways. */
export const controllers = serviceCommand('controllers', readerOf(controllersCommandSettings), async ({ settings, trust }) => {
  const { leaderElect, impersonateServiceAccounts: impersonates } = settings
  const gateways = await readGateways(settings)
  const secretTokens = readSecretTokens(settings, gateways.configuration.certificateAuthority ?? '')
  const signingAuthority = readSigningAuthority(settings)
  // Each gateway maintains the bootstrap objects itself, as only the gateway knows its addresses.
  const names = readControllers(settings).filter((name) => name !== 'bootstrap')
  const controllerOptions = readControllerOptions(settings)
  const replica = {
    trust,
    hasProcessMetrics: true,
    ...gateways,
    controllers: names,
    ...controllerOptions,
    namespaceDelayMs: usualNamespaceDelayMs,
    leaderElect,
    impersonates,
    secretTokens,
    signingAuthority,
  }
  return { open: (world) => openControllersReplica(replica, world) }
})

export interface ControllersReplicaOptions
  extends ReplicaOptions,
    GatewaysOptions,
    Pick<ControllersOptions, 'autoscaling' | 'nodes' | 'schedulers'> {
  readonly controllers: readonly ControllerName[]
  /** Time for which a terminating namespace keeps its contents; 0 by default. */
  readonly namespaceDelayMs?: number
  /** True for one of several replicas, of which one runs the controllers. */
  readonly leaderElect: boolean
  /** True if each controller uses its own service account. */
  readonly impersonates: boolean
  /** The dependencies of token Secrets; undefined if none are filled. */
  readonly secretTokens?: SecretTokenOptions | undefined
  /** Signs approved certificate requests; optional. */
  readonly signingAuthority?: KeyPair | undefined
}

/** Controllers as clients of the gateways. */
export function openControllersReplica(options: ControllersReplicaOptions, world: Omit<Surroundings, 'lifecycle'>): Promise<Replica> {
  return assembleReplica(options, world, async (assembly) => {
    const { catalogue, log, metrics } = assembly
    const { configuration, signingAuthority } = options
    const signRequest = signingAuthority && requestSigner(signingAuthority, assembly.clock)
    const gateways = openGateways(options, assembly)
    const transport = (identity: Identity) => ofProgram(programOf(identity, catalogue.names), gateways.transport())
    // A controller with the identity of the server uses the user of the configuration here.
    const clientAs = (identity: Identity) =>
      createClient(options.impersonates && identity !== serverIdentity ? actingAs(identity.name, transport(identity)) : transport(identity))
    const leading = metrics.gauge({ name: 'controllers_leading', help: '1 while this replica runs the controllers.' })
    const lead = async (signal: AbortSignal) => {
      const term = createLifecycle({ log })
      const rootCertificate = configuration.certificateAuthority
      await runControllers({ ...options, objects: [], signRequest, rootCertificate, clientAs, metrics }, { ...assembly, lifecycle: term })
      leading.set(1)
      await aborted(signal)
      leading.set(0)
      await term.stop()
    }
    runLed({ name: 'controllers', lease: 'controllers', leaderElect: options.leaderElect, transport: gateways.transport(), lead }, assembly)
    return { address: '', checks: [gateways.check] }
  })
}
