import type { HealthCheck } from '@orch/gateway'
import { messageOf } from '@orch/platform'
import { ListenError, type Offer, openRpcServer, type RpcServer } from '@orch/platform/rpc'
import { AddressTakenError, StartError } from '../start-error.ts'
import type { Assembly } from './replica.ts'

/** Offers a service to the others; when the lifecycle stops, callers are sent elsewhere first. */
export async function serve(address: string, offers: readonly Offer[], { lifecycle, rpc }: Assembly): Promise<RpcServer> {
  const server = await open(address, offers, rpc)
  await lifecycle.run({ name: 'rpc server', stop: () => server.drain() })
  return server
}

async function open(address: string, offers: readonly Offer[], rpc: Assembly['rpc']): Promise<RpcServer> {
  try {
    return await openRpcServer({ ...rpc, address, offers })
  } catch (error) {
    const message = `--listen=${address}: ${messageOf(error)}`
    if (error instanceof ListenError && error.code === 'EADDRINUSE') throw new AddressTakenError(message, { address, cause: error })
    throw new StartError(message, { cause: error })
  }
}

/** Whether the store takes writes. */
export function storeCheck(status: () => Promise<{ readonly refusing: string }>): HealthCheck {
  return {
    name: 'store',
    async check() {
      const { refusing } = await status()
      return refusing === '' ? undefined : refusing
    },
  }
}
