import { type Client, createClient, type Transport } from '@orch/client'
import { getOrMake } from '@orch/core/memo'
import type { Names } from '@orch/core/names'
import type { Gateway } from '@orch/gateway'
import { type Clock, declareMetrics, hotCounter, hotHistogram, type Metrics, type MetricsOf } from '@orch/platform'
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

/** Wraps a transport for a program of this name. */
export function ofProgram(program: string, transport: Transport): Transport {
  return {
    takesValues: transport.takesValues,
    send: (request) => transport.send({ ...request, headers: { 'user-agent': program, ...request.headers } }),
    close: () => transport.close(),
  }
}

/** Wraps a transport for clients without the path prefix. */
function below(pathPrefix: string, transport: Transport): Transport {
  if (pathPrefix === '') return transport
  return {
    takesValues: transport.takesValues,
    send: (request) => transport.send({ ...request, path: pathPrefix + request.path }),
    close: () => transport.close(),
  }
}

const sizes = [64, 256, 512, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216]

const table = {
  rest_client_requests_total: hotCounter(
    'Requests of clients in this process that were answered, or failed, by code, method and host; <error> where there was no answer.',
    ['code', 'method', 'host'],
  ),
  rest_client_request_duration_seconds: hotHistogram(
    'Time until the head of the answer, by verb and host.',
    [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60],
    ['verb', 'host'],
  ),
  rest_client_request_size_bytes: hotHistogram('Bytes of bodies that were sent.', sizes, ['verb', 'host']),
  rest_client_response_size_bytes: hotHistogram('Bytes of bodies that were received, when each has ended.', sizes, ['verb', 'host']),
}

/** The counts of clients' requests in one process, under the names of client-go. */
export class ClientMetrics {
  readonly #declared: MetricsOf<typeof table>
  readonly #clock: Clock

  constructor(metrics: Metrics, clock: Clock) {
    this.#declared = declareMetrics(metrics, table)
    this.#clock = clock
  }

  /** Wraps a transport and counts its requests. */
  over(transport: Transport, host: string): Transport {
    const countsOf = memoByText((method) => this.#countsOf(method, host))
    return {
      takesValues: transport.takesValues,
      send: async (request) => {
        const { codes, duration, requestSize, responseSize } = countsOf(request.method)
        const begin = this.#clock.monotonic()
        requestSize.observe(Buffer.byteLength(request.body ?? ''))
        try {
          const response = await transport.send(request)
          codes(String(response.status)).add(1)
          if (response.whole !== undefined) {
            responseSize.observe(response.whole.length)
            return response
          }
          const tell = (bytes: number) => responseSize.observe(bytes)
          return { ...response, body: measured(response.body, tell), pieces: response.pieces && measured(response.pieces, tell) }
        } catch (error) {
          codes('<error>').add(1)
          throw error
        } finally {
          duration.observe((this.#clock.monotonic() - begin) / 1000)
        }
      },
      close: () => transport.close(),
    }
  }

  /** The counts of requests of one method, which are looked up once. */
  #countsOf(method: string, host: string) {
    const { rest_client_requests_total, rest_client_request_duration_seconds } = this.#declared
    const { rest_client_request_size_bytes, rest_client_response_size_bytes } = this.#declared
    const labels = { verb: method, host }
    return {
      codes: memoByText((code) => rest_client_requests_total.series({ code, method, host })),
      duration: rest_client_request_duration_seconds.series(labels),
      requestSize: rest_client_request_size_bytes.series(labels),
      responseSize: rest_client_response_size_bytes.series(labels),
    }
  }
}

/** Creates a value once for each key, of which there are few. */
function memoByText<T>(make: (text: string) => T): (text: string) => T {
  const known = new Map<string, T>()
  return (text) => {
    return getOrMake(known, text, () => make(text))
  }
}

/** Wraps a body; reports its bytes once, when it has ended or was abandoned. */
function measured<Piece extends { readonly length: number }>(
  body: AsyncIterable<Piece>,
  tell: (bytes: number) => void,
): AsyncIterable<Piece> {
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
