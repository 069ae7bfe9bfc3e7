import { setTimeout as sleep } from 'node:timers/promises'
import { readText } from './request.ts'
import type { Transport, TransportResponse } from './transport.ts'

/** Conditions under which requests are sent again. */
export interface RetryOptions {
  /** Maximum number of retries per request. */
  readonly retriesMax: number
  /** Waits for a time, or rejects when the signal is raised. Default: real time. */
  readonly wait?: (ms: number, signal: AbortSignal | undefined) => Promise<void>
}

/**
 * Repeats a request if the server asks for it: a request answered with 429 or 5xx and `Retry-After` was not carried out. The wait
 * is the time in the header. After the last retry the answer is returned unchanged.
 */
export function createRetryingTransport(transport: Transport, { retriesMax, wait = waitFor }: RetryOptions): Transport {
  return {
    async send(request) {
      for (let retries = 0; ; retries++) {
        const response = await transport.send(request)
        const waitMs = retryAfterMs(response)
        if (waitMs === undefined || retries >= retriesMax) return response
        // Reading the body frees the connection before the wait.
        await readText(response)
        await wait(waitMs, request.signal)
      }
    },
    close: () => transport.close(),
  }
}

/** The delay in seconds, as Kubernetes servers send it; a date is ignored. */
function retryAfterMs({ status, headers }: TransportResponse): number | undefined {
  const text = headers['retry-after']
  if ((status !== 429 && status < 500) || text === undefined || !/^\d{1,6}$/.test(text)) return undefined
  return Number(text) * 1000
}

async function waitFor(ms: number, signal: AbortSignal | undefined): Promise<void> {
  await sleep(ms, undefined, signal === undefined ? {} : { signal })
}
