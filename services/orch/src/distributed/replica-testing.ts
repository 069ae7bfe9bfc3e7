import { type Client, createClient, createHttpsTransport } from '@orch/client'
import { certificateMemory, readCertificates, silentLog, systemChance, systemClock } from '@orch/platform'
import { onTestFinished } from 'vitest'
import { everythingServed } from '../api/settings.ts'
import { keepSigningKey } from '../authentication/open.ts'
import { readGateway } from '../gateway/settings.ts'
import { readStartSettings } from '../start/start-settings.ts'
import { catalogueOf } from '../surroundings.ts'
import { type GatewayReplica, type GatewayReplicaOptions, openGatewayReplica } from './gateway.ts'
import type { Replica } from './replica.ts'

/** The surroundings of replicas in this process. */
export const world = { clock: systemClock, chance: systemChance, log: silentLog, catalogue: catalogueOf(everythingServed('orch')) }
export const apart = { trust: { tls: undefined, insecureTransport: false }, hasProcessMetrics: false, listen: '127.0.0.1:0' }

/** A replica that stops with the test. */
export async function closing<R extends Replica>(opened: Promise<R>): Promise<R> {
  const replica = await opened
  onTestFinished(() => replica.stop())
  return replica
}

type Behind = Pick<GatewayReplicaOptions, 'storageAddresses' | 'watchAddresses' | 'admission' | 'nodesAddresses'>

/** Opens gateways of one cluster over other services, each with the administrator's client. */
export async function gatewaysOver(behind: Behind, flags: readonly string[] = []) {
  const files = certificateMemory()
  const ownSigningKey = keepSigningKey(files)
  const { serving: pair, authority, admin } = await readCertificates({ files, product: 'a', names: ['127.0.0.1'], clock: systemClock })
  const own = { pair, ownSigningKey, ownClients: authority, advertiseAddress: '' }
  return async (): Promise<{ gateway: GatewayReplica; client: Client; configuration: Parameters<typeof createHttpsTransport>[0] }> => {
    const gateway = await closing(openGatewayReplica({ ...apart, ...readGateway(readStartSettings({ flags })), ...behind, ...own }, world))
    await gateway.ready
    const configuration = {
      server: gateway.address,
      certificateAuthority: authority,
      clientCertificate: admin.certificate,
      clientKey: admin.key,
    }
    const client = createClient(createHttpsTransport(configuration))
    onTestFinished(() => client.close())
    return { gateway, client, configuration }
  }
}
