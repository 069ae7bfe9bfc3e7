import type { Transport } from '@orch/client'
import { messageOf, type Timer } from '@orch/platform'
import type { Surroundings } from '../surroundings.ts'

export interface ReachabilityOptions extends Pick<Surroundings, 'clock' | 'log'> {
  /** The name in the check and in the log: `gateway`. */
  readonly name: string
  /** For the log. */
  readonly servers: readonly string[]
}

/** Time without an answer after which an error is logged. */
const silenceMsMax = 10_000

/** Derives from ordinary requests if they are answered; at first none has been. */
export function createReachability({ name, servers, clock, log }: ReachabilityOptions) {
  let problem: string | undefined = 'no request has been answered yet'
  let silence: Timer | undefined
  let isLogged = false
  const expectAnswer = () => {
    silence ??= clock.after(silenceMsMax, () => {
      problem ??= 'requests are left without an answer'
      isLogged = true
      log.error({ servers, problem }, `no ${name} has answered for ${silenceMsMax / 1000} s`)
    })
  }
  const answered = () => {
    silence?.cancel()
    silence = undefined
    problem = undefined
    if (isLogged) log.info({ servers }, `a ${name} answers again`)
    isLogged = false
  }
  return {
    /** Healthy after any answer; unhealthy after a failed or unanswered request, until the next answer. */
    check: { name, check: () => problem },
    /** Wraps a transport and observes its requests. */
    over: (transport: Transport): Transport => ({
      async send(request) {
        expectAnswer()
        try {
          const response = await transport.send(request)
          answered()
          return response
        } catch (error) {
          // A request that its sender cancelled says nothing about the server.
          if (request.signal?.aborted !== true) problem = `requests fail: ${messageOf(error)}`
          throw error
        }
      },
      close: () => transport.close(),
    }),
    close: () => silence?.cancel(),
  }
}
