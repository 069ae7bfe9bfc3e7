import type { ClientConfiguration } from '../configuration.ts'
import type { Transport } from '../transport.ts'
import { Http1Transport } from './http1-transport.ts'
import { NegotiatedTransport } from './negotiated-transport.ts'
import { type HttpsTransportOptions, remoteOf } from './transport-options.ts'

/** Requests to the server of a configuration, over connections that are kept and used again: HTTP/2 where the server offers it over TLS. */
export function createHttpsTransport(configuration: ClientConfiguration, options: HttpsTransportOptions = {}): Transport {
  const remote = remoteOf(configuration, options)
  const transport = remote.isTls && options.http1Only !== true ? new NegotiatedTransport(remote) : new Http1Transport(remote)
  // Its functions may be taken out of it.
  return { send: (request) => transport.send(request), close: () => transport.close() }
}
