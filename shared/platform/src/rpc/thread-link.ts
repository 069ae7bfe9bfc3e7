import type { MessagePort } from 'node:worker_threads'
import type { CallContext, Contract, Methods, Service, Stream } from '@orch/core/contracts'
import { type Clock, systemClock } from '../clock.ts'
import { type Codec, codecOf } from '../codec.ts'
import { createDeparture } from './departure.ts'
import { FrameCallee } from './frame-callee.ts'
import { FrameCaller } from './frame-caller.ts'
import { overThread } from './frame-port.ts'
import { callFrames, replyFrames } from './frames.ts'
import type { Offer } from './offer.ts'
import { methodPath } from './path.ts'
import { servedMethods } from './served.ts'
import { toCallerError } from './wire-failure.ts'
import { createWork } from './work.ts'

export { type Offer, serveContract } from './offer.ts'

/** The services of another thread, over a port. Messages are encoded as for gRPC, and their bytes are transferred. */
export interface ThreadLink {
  /** The service of a contract that the other thread offers. */
  service<M extends Methods>(contract: Contract<M>): Service<Contract<M>>
  /** Resolves when either side has closed the link, or the thread has ended. */
  readonly gone: Promise<void>
  /** Fails all open and later calls. */
  close(): void
}

/** Connects to the services that another thread offers on the port. */
export function dialThread(port: MessagePort, { clock = systemClock }: { clock?: Clock } = {}): ThreadLink {
  const { promise: gone, resolve: onGone } = Promise.withResolvers<void>()
  const caller = new FrameCaller({ port: overThread(port, callFrames, replyFrames), clock, onGone })
  return { service: (contract) => serviceOf(caller, contract), gone, close: () => caller.close() }
}

function serviceOf<M extends Methods>(caller: FrameCaller, { name, methods }: Contract<M>): Service<Contract<M>> {
  const service: Record<string, unknown> = {}
  for (const [method, { form, request, response, options }] of Object.entries(methods)) {
    const path = methodPath(name, method)
    const asked: Codec = codecOf(request)
    const answered: Codec = codecOf(response)
    service[method] =
      form === 'stream'
        ? (message: unknown, context: CallContext = {}) => decoded(caller.stream(path, asked.encode(message), context), answered)
        : (message: unknown, context: CallContext = {}) =>
            caller.send(path, asked.encode(message), context).then(
              (payload) => answered.decode(payload),
              (error: unknown) => Promise.reject(toCallerError(error, { idempotent: options.idempotent === true })),
            )
  }
  return service as unknown as Service<Contract<M>>
}

function decoded(payloads: Stream<Uint8Array>, codec: Codec): Stream<unknown> {
  const iterator = payloads[Symbol.asyncIterator]()
  const next = async (): Promise<IteratorResult<unknown, undefined>> => {
    try {
      const { value, done } = await iterator.next()
      return done === true ? { value: undefined, done } : { value: codec.decode(value), done: false }
    } catch (error) {
      throw toCallerError(error, { idempotent: true })
    }
  }
  const close = () => payloads.close()
  const back = async (): Promise<IteratorResult<unknown, undefined>> => {
    close()
    return { value: undefined, done: true }
  }
  return { close, [Symbol.asyncIterator]: () => ({ next, return: back }) }
}

/** Services that another thread calls. */
export interface ThreadOffer {
  /** Cancels open calls. The caller sees that the link is closed. */
  close(): void
}

/** Answers calls of another thread. All services of this thread share the port. */
export function serveThread(port: MessagePort, offers: readonly Offer[], { clock = systemClock }: { clock?: Clock } = {}): ThreadOffer {
  const methods = new Map(
    offers.flatMap((offer) =>
      [...servedMethods(offer, { hasRoles: false })].map(([method, served]) => [methodPath(offer.contract.name, method), served] as const),
    ),
  )
  const work = createWork()
  return new FrameCallee(overThread(port, replyFrames, callFrames), {
    methods,
    clock,
    work,
    departure: createDeparture(work),
    role: undefined,
  })
}
