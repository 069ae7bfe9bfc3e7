import { type Client, createClient, type Transport } from '@orch/client'
import type { Gateway } from '@orch/gateway'
import type { Identity } from './controllers.ts'

/** A client of a gateway in this process: it needs no socket and no credentials. */
export function clientOf(gateway: Gateway, identity: Identity, pathPrefix: string): Client {
  return createClient(below(pathPrefix, gateway.loopback(identity)))
}

/** The same way in, for clients that know nothing of the path prefix. */
function below(pathPrefix: string, transport: Transport): Transport {
  if (pathPrefix === '') return transport
  return { send: (request) => transport.send({ ...request, path: pathPrefix + request.path }), close: () => transport.close() }
}
