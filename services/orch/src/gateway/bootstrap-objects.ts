import type { Client } from '@orch/client'
import { type BootstrapObject, bootstrap, bootstrapRoles } from '@orch/controllers'
import type { Names } from '@orch/core/names'
import type { Gateway } from '@orch/gateway'
import { type Identity, serverIdentity } from '../controllers/open.ts'

export interface BootstrapObjectsParts {
  readonly gateway: Gateway
  readonly names: Names
  readonly objects: readonly BootstrapObject[]
  clientAs(identity: Identity): Client
}

/**
 * Creates the bootstrap objects, and waits until they are in force. Several gateways may do so at once: the second one
 * finds what it wants already there.
 */
export async function makeBootstrapObjects({ gateway, names, objects, clientAs }: BootstrapObjectsParts): Promise<void> {
  const client = clientAs(serverIdentity)
  await bootstrap(client, objects, gateway.writeBootstrapObjects)
  await bootstrapRoles(client, names, gateway.writeBootstrapObjects)
  await gateway.loadDefinitions()
  await gateway.loadAuthorization()
}
