import type { ClientConfiguration } from '../configuration.ts'
import type { Transport } from '../transport.ts'
import { Http1Transport } from './http1-transport.ts'
import { NegotiatedTransport } from './negotiated-transport.ts'
import { type HttpsTransportOptions, remoteOf } from './transport-options.ts'

/** Sends requests to the server of a configuration over connections that are reused, with HTTP/2 if the TLS server offers it. */
export function createHttpsTransport(configuration: ClientConfiguration, options: HttpsTransportOptions = {}): Transport {
  const remote = remoteOf(configuration, options)
  const transport = remote.isTls && options.http1Only !== true ? new NegotiatedTransport(remote) : new Http1Transport(remote)
  // The functions work without a receiver, so callers may destructure them.
  return { send: (request) => transport.send(request), close: () => transport.close() }
}
