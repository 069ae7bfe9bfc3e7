import type { Transport } from '@orch/client'
import type { HealthCheck } from '@orch/gateway'

/** Knows from the requests that are made anyway whether somebody answers them. */
export interface Reachability {
  /** Well once a request was answered, whatever the answer; not well after one that came to nobody, until the next answer. */
  readonly check: HealthCheck
  /** The same way to a server, whose requests are noticed. */
  over(transport: Transport): Transport
}

/** Nobody has answered yet. */
export function createReachability(name: string): Reachability {
  let problem: string | undefined = 'nobody has answered yet'
  return {
    check: { name, check: () => problem },
    over: (transport) => ({
      async send(request) {
        try {
          const response = await transport.send(request)
          problem = undefined
          return response
        } catch (error) {
          // A request that its sender gave up says nothing about the other side.
          if (request.signal?.aborted !== true) problem = `nobody answers: ${(error as Error).message}`
          throw error
        }
      },
      close: () => transport.close(),
    }),
  }
}
