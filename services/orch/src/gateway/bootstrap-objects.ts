import type { Client } from '@orch/client'
import { type BootstrapObject, bootstrap, bootstrapRoles } from '@orch/controllers'
import type { Names } from '@orch/core/names'
import type { Gateway } from '@orch/gateway'
import { type Identity, serverIdentity } from '../controllers/open.ts'

export interface StartObjectsParts {
  readonly gateway: Gateway
  readonly names: Names
  readonly objects: readonly BootstrapObject[]
  clientAs(identity: Identity): Client
}

/**
 * Creates the bootstrap objects, and waits until they are in force. Several gateways may do so at once: the second one
 * finds what it wants already there.
 */
export async function makeStartObjects({ gateway, names, objects, clientAs }: StartObjectsParts): Promise<void> {
  const client = clientAs(serverIdentity)
  await bootstrap(client, objects, gateway.plant)
  await bootstrapRoles(client, names, gateway.plant)
  await gateway.loadDefinitions()
  await gateway.loadAuthorization()
}
