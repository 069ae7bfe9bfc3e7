import { Agent, type RequestOptions } from 'node:https'
import type { Duplex } from 'node:stream'
import type { SecureContext } from 'node:tls'
import type { Address } from './addresses.ts'

/** Separates connections by address, names and TLS context, so that one agent serves all servers. Connects as the address says. */
export class ContextAgent extends Agent {
  readonly #numbers = new WeakMap<SecureContext, number>()
  #count = 0

  override getName(options?: RequestOptions & { readonly secureContext?: SecureContext }): string {
    const context = options?.secureContext
    return context === undefined ? super.getName(options) : `${super.getName(options)}:${this.#numberOf(context)}`
  }

  override createConnection(
    options: RequestOptions & Pick<Address, 'open'>,
    callback?: (error: Error | null, socket: Duplex) => void,
  ): Duplex | null | undefined {
    if (options.open === undefined) return super.createConnection(options, callback)
    const connected = (socket: Duplex | undefined) => super.createConnection({ ...options, ...(socket && { socket }) }) as Duplex
    options
      .open()
      .then(connected)
      .then(
        (socket) => callback?.(null, socket),
        (error) => callback?.(error, undefined as never),
      )
    return undefined
  }

  #numberOf(context: SecureContext): number {
    const number = this.#numbers.get(context) ?? ++this.#count
    this.#numbers.set(context, number)
    return number
  }
}
