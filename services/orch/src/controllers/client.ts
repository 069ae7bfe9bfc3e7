import { type Client, createClient, type Transport, type TransportResponse } from '@orch/client'
import type { Names } from '@orch/core/names'
import type { Gateway } from '@orch/gateway'
import { type Clock, declareMetrics, type Metrics, type MetricsOf, type MetricTable } from '@orch/platform'
import { type Identity, nodeUserPrefix, schedulerIdentity, serverIdentity } from './open.ts'

/** The common parts of a gateway's clients in this process. */
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

/** The name of a part of the server in `managedFields` and in audit events. */
export function programOf(identity: Identity, names: Names): string {
  if (identity.name.startsWith(nodeUserPrefix)) return names.nodeAgent
  if (identity === schedulerIdentity) return names.schedulerManager
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

const sizes = [64, 256, 512, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216]

const table = {
  rest_client_requests_total: {
    type: 'counter',
    help: 'Requests of clients in this process that were answered, or failed, by code, method and host; <error> where there was no answer.',
    labels: ['code', 'method', 'host'],
  },
  rest_client_request_duration_seconds: {
    type: 'histogram',
    help: 'Time until the head of the answer, by verb and host.',
    labels: ['verb', 'host'],
    buckets: [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60],
  },
  rest_client_request_size_bytes: { type: 'histogram', help: 'Bytes of bodies that were sent.', labels: ['verb', 'host'], buckets: sizes },
  rest_client_response_size_bytes: {
    type: 'histogram',
    help: 'Bytes of bodies that were received, when each has ended.',
    labels: ['verb', 'host'],
    buckets: sizes,
  },
} as const satisfies MetricTable

/** The counts of clients' requests in one process, under client-go's names. */
export class ClientMetrics {
  readonly #declared: MetricsOf<typeof table>
  readonly #clock: Clock

  constructor(metrics: Metrics, clock: Clock) {
    this.#declared = declareMetrics(metrics, table)
    this.#clock = clock
  }

  /** The same way to a server, counted. */
  over(transport: Transport, host: string): Transport {
    const declared = this.#declared
    return {
      send: async (request) => {
        const labels = { verb: request.method, host }
        const begin = this.#clock.monotonic()
        const count = (code: string) => declared.rest_client_requests_total.inc({ code, method: request.method, host })
        declared.rest_client_request_size_bytes.observe(labels, Buffer.byteLength(request.body ?? ''))
        try {
          const response = await transport.send(request)
          count(String(response.status))
          const body = measured(response.body, (bytes) => declared.rest_client_response_size_bytes.observe(labels, bytes))
          return { ...response, body }
        } catch (error) {
          count('<error>')
          throw error
        } finally {
          declared.rest_client_request_duration_seconds.observe(labels, (this.#clock.monotonic() - begin) / 1000)
        }
      },
      close: () => transport.close(),
    }
  }
}

/** The same body; reports its bytes once, when it has ended or was left. */
function measured(body: TransportResponse['body'], tell: (bytes: number) => void): TransportResponse['body'] {
  return {
    [Symbol.asyncIterator]() {
      const parts = body[Symbol.asyncIterator]()
      let bytes = 0
      let isTold = false
      const over = () => {
        if (!isTold) tell(bytes)
        isTold = true
      }
      return {
        async next() {
          const part = await parts.next()
          if (part.done === true) over()
          else bytes += part.value.length
          return part
        },
        async return(value?: unknown) {
          over()
          await parts.return?.(value)
          return { value: undefined, done: true }
        },
      }
    },
  }
}
