import { Agent, type RequestOptions } from 'node:https'
import type { SecureContext } from 'node:tls'

/** Separates connections by address, names and TLS context, so that one agent serves all servers. */
export class ContextAgent extends Agent {
  readonly #numbers = new WeakMap<SecureContext, number>()
  #count = 0

  override getName(options?: RequestOptions & { readonly secureContext?: SecureContext }): string {
    const context = options?.secureContext
    return context === undefined ? super.getName(options) : `${super.getName(options)}:${this.#numberOf(context)}`
  }

  #numberOf(context: SecureContext): number {
    const number = this.#numbers.get(context) ?? ++this.#count
    this.#numbers.set(context, number)
    return number
  }
}
