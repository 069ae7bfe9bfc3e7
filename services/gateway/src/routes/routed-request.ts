import type { GatewayRequest } from '../request.ts'

/** What hono and its middleware read of a request. A real `Request` would cost more than the rest of the routing. */
export class RoutedRequest {
  /** A HEAD of a document is a GET whose body is not sent, so that the length of the body is known. */
  readonly method: string
  readonly url: string
  readonly #request: GatewayRequest

  constructor(request: GatewayRequest) {
    const { method, path, info } = request
    this.method = method !== 'HEAD' ? method : info.kind === 'path' ? 'GET' : 'OPTIONS'
    this.url = path
    this.#request = request
  }

  get headers(): Pick<Headers, 'get'> {
    const { exchange } = this.#request
    return { get: (name) => exchange.header(name.toLowerCase()) ?? null }
  }
}
