import { Agent, type RequestOptions } from 'node:https'
import { connect } from 'node:net'
import type { Duplex } from 'node:stream'
import type { SecureContext } from 'node:tls'
import { getOrMake } from '@orch/core/memo'
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
    const socket = openedSocket(options)
    return super.createConnection({ ...options, ...(socket && { socket }) }, callback)
  }

  #numberOf(context: SecureContext): number {
    return getOrMake(this.#numbers, context, () => ++this.#count)
  }
}

/** The connection to a simulated Pod, for TLS over it; undefined for another address. */
export function openedSocket({ open, host, port, lookup }: RequestOptions & Pick<Address, 'open'>): Duplex | undefined {
  return open?.(() => connect({ host: host ?? '', port: Number(port), ...(lookup && { lookup }) }))
}
