import { crc32 } from 'node:zlib'
import type { CallContext, Contract, Methods, Service, Stream } from '@orch/core/contracts'
import { type Offer, serveContract } from './offer.ts'

/** A service called in the same process. */
export interface DirectLink<S> {
  readonly service: S
  /** Throws if either side has changed bytes after they crossed the link. Works only for links with `freeze`. */
  verify(): void
}

/**
 * A contract's service by function calls; messages are passed unchanged. With `freeze`, for tests, messages are deeply frozen,
 * so that neither side can change an object of the other. Bytes cannot be frozen; `verify` compares their checksums.
 */
export function directLink<M extends Methods>(
  contract: Contract<M>,
  service: Service<Contract<M>>,
  { freeze }: { readonly freeze: boolean },
): DirectLink<Service<Contract<M>>> {
  if (!freeze) return { service, verify: () => {} }
  const crossed = new Map<Uint8Array, number>()
  const cross = <T>(message: T): T => freezeDeeply(message, (bytes) => void crossed.set(bytes, crc32(bytes)))
  const methods = service as unknown as Readonly<Record<string, (request: unknown, context?: CallContext) => unknown>>
  const linked: Record<string, unknown> = {}
  for (const [name, { form }] of Object.entries(contract.methods)) {
    const call = (request: unknown, context?: CallContext) => methods[name]?.(cross(request), context)
    linked[name] =
      form === 'unary'
        ? async (request: unknown, context?: CallContext) => cross(await call(request, context))
        : (request: unknown, context?: CallContext) => crossing(call(request, context) as Stream<unknown>, cross)
  }
  return { service: linked as unknown as Service<Contract<M>>, verify: () => verifyBytes(crossed) }
}

/** The links between the services of one process. */
export function directLinks(options: { readonly freeze: boolean }) {
  const offers: Offer[] = []
  const links: Pick<DirectLink<unknown>, 'verify'>[] = []
  return {
    /** The linked services, for further threads. */
    offers,
    /** Links a service, and returns the linked service for its callers. */
    offer<M extends Methods>(contract: Contract<M>, own: Service<Contract<M>>): Service<Contract<M>> {
      const link = directLink(contract, own, options)
      links.push(link)
      offers.push(serveContract(contract, link.service))
      return link.service
    },
    /** Verifies all links. */
    verify() {
      for (const link of links) link.verify()
    },
  }
}

function crossing(stream: Stream<unknown>, cross: <T>(message: T) => T): Stream<unknown> {
  const parts = stream[Symbol.asyncIterator]()
  const close = () => stream.close()
  const iterator: AsyncIterator<unknown> = {
    next: async () => cross(await parts.next()),
    return: async () => {
      close()
      return { value: undefined, done: true }
    },
  }
  return { close, [Symbol.asyncIterator]: () => iterator }
}

function freezeDeeply<T>(value: T, onBytes: (bytes: Uint8Array) => void): T {
  if (value instanceof Uint8Array) onBytes(value)
  else if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const member of Object.values(value)) freezeDeeply(member, onBytes)
  }
  return value
}

function verifyBytes(crossed: ReadonlyMap<Uint8Array, number>): void {
  for (const [bytes, checksum] of crossed) {
    if (crc32(bytes) !== checksum) throw new Error(`${bytes.length} bytes were changed after they had crossed the link`)
  }
}
