import type { Transport } from '@orch/client'
import type { Tracer } from '@orch/platform'

/**
 * The same way to a server, with a span for each request, of which the server's own is a child. It ends with the head of the
 * answer: a watch has no end of its own.
 */
export function createTracedTransport(transport: Transport, tracer: Tracer): Transport {
  return {
    async send(request) {
      const { method, path, headers } = request
      const attributes = { 'http.request.method': method, 'url.path': path.split('?', 1)[0] ?? path }
      const span = tracer.start(method, { kind: 'client', attributes })
      if (span === undefined) return transport.send(request)
      try {
        const response = await transport.send({ ...request, headers: { ...headers, traceparent: span.traceparent } })
        span.attribute('http.response.status_code', response.status)
        return response
      } catch (error) {
        span.fail(error)
        throw error
      } finally {
        span.end()
      }
    },
    close: () => transport.close(),
  }
}
