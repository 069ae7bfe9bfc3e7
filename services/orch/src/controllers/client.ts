import { type Client, createClient, type Transport } from '@orch/client'
import type { Names } from '@orch/core/names'
import type { Gateway } from '@orch/gateway'
import type { ClientMetrics } from './client-metrics.ts'
import { type Identity, serverIdentity } from './open.ts'

/** What the clients of a gateway in this process have in common. */
interface OwnClients {
  readonly names: Names
  readonly pathPrefix: string
  readonly requests: ClientMetrics
}

/** A client of a gateway in this process: it needs no socket and no credentials. */
export function clientOf(gateway: Gateway, identity: Identity, { names, pathPrefix, requests }: OwnClients): Client {
  const transport = requests.over(gateway.loopback(identity), 'loopback')
  return createClient(ofProgram(programOf(identity, names), below(pathPrefix, transport)))
}

/** What a part of the server is called in `managedFields` and in audit events. */
export function programOf(identity: Identity, names: Names): string {
  return identity === serverIdentity ? names.serverManager : names.controllerManager
}

/** The same way in, for a program of this name. */
export function ofProgram(program: string, transport: Transport): Transport {
  return {
    send: (request) => transport.send({ ...request, headers: { 'user-agent': program, ...request.headers } }),
    close: () => transport.close(),
  }
}

/** The same way in, for clients that know nothing of the path prefix. */
function below(pathPrefix: string, transport: Transport): Transport {
  if (pathPrefix === '') return transport
  return { send: (request) => transport.send({ ...request, path: pathPrefix + request.path }), close: () => transport.close() }
}
