import { setTimeout as sleep } from 'node:timers/promises'
import { readText } from './request.ts'
import type { Transport, TransportResponse } from './transport.ts'

/** Conditions under which requests are sent again. */
export interface RetryOptions {
  /** Most times that a request is sent again. */
  readonly retriesMax: number
  /** Waits so long, or rejects when the signal is raised; the real time unless given. */
  readonly wait?: (ms: number, signal: AbortSignal | undefined) => Promise<void>
}

/**
 * Sends a request again if the server asks for that: an answer of 429 or 5xx with `Retry-After` was not carried out. The wait
 * is as long as the header says. The last answer is passed on unchanged.
 */
export function createRetryingTransport(transport: Transport, { retriesMax, wait = waitFor }: RetryOptions): Transport {
  return {
    async send(request) {
      for (let retries = 0; ; retries++) {
        const response = await transport.send(request)
        const waitMs = retryAfterMs(response)
        if (waitMs === undefined || retries >= retriesMax) return response
        // The connection is given back before it is waited.
        await readText(response)
        await wait(waitMs, request.signal)
      }
    },
    close: () => transport.close(),
  }
}

/** Seconds, as servers of this kind send it; a date is no delay that they ask for. */
function retryAfterMs({ status, headers }: TransportResponse): number | undefined {
  const text = headers['retry-after']
  if ((status !== 429 && status < 500) || text === undefined || !/^\d{1,6}$/.test(text)) return undefined
  return Number(text) * 1000
}

async function waitFor(ms: number, signal: AbortSignal | undefined): Promise<void> {
  await sleep(ms, undefined, signal === undefined ? {} : { signal })
}
