import type { RequestOptions } from 'node:https'
import { brokenAnswer, type Guard, type KeyPair, lookupElsewhere, type OutgoingCalls, passCall } from '@orch/platform'
import { ContextAgent, type ServiceAddresses, TlsContexts } from '@orch/platform/webhooks'
import type { RemoteApi } from './api-service.ts'
import { faultyAnswers } from './faulty-answers.ts'
import { Http2Sessions } from './http2-sessions.ts'
import { type Answer, type Outgoing, sendBehind } from './send-behind.ts'

/** The dependencies of connecting to the servers of APIServices. */
export interface BackendsOptions {
  readonly addresses: ServiceAddresses
  readonly allowsLinkLocal: boolean
  /** This server's client certificate for remote servers; undefined for none. */
  readonly proxyPair: () => KeyPair | undefined | Promise<KeyPair | undefined>
  readonly guard: Guard
  /** The faults of a test; undefined without faults. */
  readonly calls?: OutgoingCalls | undefined
}

/** The connections to remote servers of group versions. */
export class Backends {
  readonly #options: BackendsOptions
  readonly #contexts = new TlsContexts()
  /** A slow server only uses its own connections: no common limit exists that it could exhaust. */
  #madeAgent: ContextAgent | undefined
  readonly #sessions: Http2Sessions

  constructor(options: BackendsOptions) {
    this.#options = options
    this.#sessions = new Http2Sessions(options.guard)
  }

  get #agent(): ContextAgent {
    this.#madeAgent ??= new ContextAgent({ keepAlive: true, maxFreeSockets: 16, scheduling: 'lifo' })
    return this.#madeAgent
  }

  /**
   * The connection to the service of an APIService. Throws `UnresolvedService`, or the error of the certificates. `verifies: false` is for requests
   * whose answer is not trusted.
   */
  async reach({ service, authorities, skipsVerification }: RemoteApi, { verifies = true } = {}): Promise<RequestOptions> {
    const pair = await this.#options.proxyPair()
    const isVerified = verifies && !skipsVerification
    const secureContext = this.#contexts.of({
      authorities: isVerified ? authorities : undefined,
      clientCertificate: pair?.certificate,
      clientKey: pair?.key,
    })
    const { host, port, open } = await this.#options.addresses.find(service)
    return {
      host,
      port,
      ...(this.#options.allowsLinkLocal ? {} : { lookup: lookupElsewhere }),
      servername: `${service.name}.${service.namespace}.svc`,
      agent: this.#agent,
      rejectUnauthorized: isVerified,
      ...{ secureContext, open },
    }
  }

  /** Sends a request to the address of `reach`, over HTTP/2 if that server supports it. */
  send(outgoing: Outgoing, options: RequestOptions & { readonly signal: AbortSignal }, api: RemoteApi): Promise<Answer> {
    const { guard, calls } = this.#options
    const send = () => sendBehind(outgoing, options, { sessions: this.#sessions, key: this.#agent.getName(options), guard })
    return passCall(calls, { to: `apiservice/${api.name}`, signal: options.signal, send, ...faultyAnswers })
  }

  /** A request of this server itself; `what` is `availability` or `documents`. Only a refusal replaces an answer as a fault. */
  ask<T>(
    api: RemoteApi,
    what: string,
    question: { readonly signal: AbortSignal; send(): Promise<T>; refuse(code: number): T },
  ): Promise<T> {
    const { signal, send, refuse } = question
    const to = `apiservice/${api.name}/${what}`
    return passCall(this.#options.calls, { to, signal, send, refuse: ({ code }) => refuse(code), truncate: breakOff })
  }

  close(): void {
    this.#sessions.close()
    this.#madeAgent?.destroy()
  }
}

function breakOff(): never {
  throw brokenAnswer()
}
