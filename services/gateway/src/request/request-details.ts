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
  /** The details of request n are in the slot n modulo the bound. */
  readonly #slots: (RequestDetails | undefined)[] = []
  #newest = 0
  /** No older request has a stored body. */
  #oldestBody = 1
  #bytes = 0

  /** Bytes of the stored bodies. */
  get bytes(): number {
    return this.#bytes
  }

  /** Stores the details of the next request. */
  note(id: number, { method, auditId, trace, exchange, contentType, body }: GatewayRequest): void {
    const bodyBytes = body?.length ?? 0
    const query = exchange.target.split('?', 2)[1] ?? ''
    const kept = bodyBytes === 0 || bodyBytes > limits.loggedBodyBytesMax ? undefined : ownCopy(body)
    this.#dropBody(id - limits.loggedRequestsMax)
    this.#newest = id
    this.#slots[id % limits.loggedRequestsMax] = {
      method,
      auditId,
      traceparent: trace?.traceparent ?? '',
      query: Buffer.from(query.slice(0, limits.loggedTextMax)).toString(),
      contentType: contentType.slice(0, limits.loggedTextMax),
      bodyBytes,
      body: kept,
    }
    this.#bytes += kept?.length ?? 0
    while (this.#bytes > limits.loggedBodiesBytesMax) this.#dropBody(this.#oldestBody++)
  }

  find(id: number): RequestDetails | undefined {
    const isLogged = id > this.#newest - limits.loggedRequestsMax && id <= this.#newest
    return isLogged ? this.#slots[id % limits.loggedRequestsMax] : undefined
  }

  clear(): void {
    this.#slots.length = 0
    this.#bytes = 0
    this.#oldestBody = this.#newest + 1
  }

  #dropBody(id: number): void {
    const details = this.find(id)
    if (details?.body === undefined) return
    this.#bytes -= details.body.length
    this.#slots[id % limits.loggedRequestsMax] = { ...details, body: undefined }
  }
}

/** A part of a larger buffer would hold all of it in memory. */
function ownCopy(bytes: Uint8Array | undefined): Uint8Array | undefined {
  return bytes === undefined ? undefined : Uint8Array.from(bytes)
}
