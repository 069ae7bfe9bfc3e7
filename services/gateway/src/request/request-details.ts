import { limits } from '../limits.ts'
import type { GatewayRequest } from './request.ts'

/** The members of a request stored beside its log line. */
export interface RequestDetails {
  readonly method: string
  readonly auditId: string
  /** W3C trace context; '' without a trace. */
  readonly traceparent: string
  /** Its query, as sent, without `?`. */
  readonly query: string
  readonly contentType: string
  /** Bytes of the body; 0 if it had none, or none was read. */
  readonly bodyBytes: number
  /** Undefined if the request had none, it exceeds the limit, or newer requests have displaced it. */
  readonly body?: Uint8Array | undefined
}

/** Details of the last requests, by their number in the log. Bodies have a total limit; the oldest are dropped. */
export class KeptDetails {
  readonly #details = new Map<number, RequestDetails>()
  /** The numbers of the requests with stored bodies, oldest first. */
  readonly #withBody = new Set<number>()
  #bytes = 0

  /** Bytes of the stored bodies. */
  get bytes(): number {
    return this.#bytes
  }

  note(id: number, { method, auditId, trace, exchange, contentType, body }: GatewayRequest): void {
    const bodyBytes = body?.length ?? 0
    const query = exchange.target.split('?', 2)[1] ?? ''
    const kept = bodyBytes === 0 || bodyBytes > limits.loggedBodyBytesMax ? undefined : ownCopy(body)
    this.#details.set(id, {
      method,
      auditId,
      traceparent: trace?.traceparent ?? '',
      query: Buffer.from(query.slice(0, limits.loggedTextMax)).toString(),
      contentType: contentType.slice(0, limits.loggedTextMax),
      bodyBytes,
      body: kept,
    })
    if (kept !== undefined) {
      this.#withBody.add(id)
      this.#bytes += kept.length
    }
    for (const oldest of this.#withBody) {
      if (this.#bytes <= limits.loggedBodiesBytesMax) break
      this.#dropBody(oldest)
    }
    for (const oldest of this.#details.keys()) {
      if (this.#details.size <= limits.loggedRequestsMax) break
      this.#dropBody(oldest)
      this.#details.delete(oldest)
    }
  }

  find(id: number): RequestDetails | undefined {
    return this.#details.get(id)
  }

  clear(): void {
    this.#details.clear()
    this.#withBody.clear()
    this.#bytes = 0
  }

  #dropBody(id: number): void {
    const details = this.#details.get(id)
    if (details?.body === undefined) return
    this.#bytes -= details.body.length
    this.#withBody.delete(id)
    this.#details.set(id, { ...details, body: undefined })
  }
}

/** A part of a larger buffer would hold all of it in memory. */
function ownCopy(bytes: Uint8Array | undefined): Uint8Array | undefined {
  return bytes === undefined ? undefined : Uint8Array.from(bytes)
}
