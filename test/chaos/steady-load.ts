import { type Client, UnsentError } from '@orch/client'
import { StatusError } from '@orch/core/meta'
import { sleep, systemClock } from '@orch/platform'
import { type ChaosObject, configMaps, namespace } from './load.ts'

/** One request with a wrong answer or without an answer. */
interface Failure {
  readonly atMs: number
  readonly why: string
}

export interface SteadyLoadOptions {
  readonly clients: readonly Client[]
  readonly workers: number
  /** Repeats a request at another gateway if there is no connection or the answer has `Retry-After`. */
  readonly retries: boolean
}

/** Clients that write and read separate objects, so that only the server can cause a failure. */
export type SteadyLoad = ReturnType<typeof startSteadyLoad>

const retryMsMax = 20_000

/** Begins. */
export function startSteadyLoad({ clients, workers, retries }: SteadyLoadOptions) {
  const answered: number[] = []
  const failures: Failure[] = []
  let retried = 0
  let isOver = false
  let turn = 0
  const request = async (verb: string, send: (client: Client) => Promise<unknown>) => {
    const begunMs = performance.now()
    for (;;) {
      turn += 1
      try {
        await send(clients[turn % clients.length] as Client)
        return void answered.push(performance.now())
      } catch (error) {
        const retryMs = retries && performance.now() - begunMs < retryMsMax ? retryAfterMs(error) : undefined
        if (retryMs === undefined) {
          return void failures.push({ atMs: performance.now(), why: `${verb}: ${describe(error)}` })
        }
        retried += 1
        await sleep(systemClock, retryMs)
      }
    }
  }
  const work = async (index: number) => {
    const name = `steady-${index}`
    const object = (text: string): ChaosObject => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, namespace, labels: { app: index % 2 === 0 ? 'web' : 'db' } },
      data: { text },
    })
    for (let round = 0; !isOver; round += 1) {
      const text = `${index}-${round}`
      // After a lost answer it is unknown whether the object exists. An apply creates it in this case.
      await request('apply', (client) =>
        client.resource(configMaps).patch(name, object(text), { type: 'apply', namespace, fieldManager: 'steady', force: true }),
      )
      await request('get', (client) => client.resource(configMaps).get(name, { namespace }))
      await request('list', (client) => client.resource(configMaps).list({ namespace, labelSelector: 'app=web' }))
      await sleep(systemClock, 5)
    }
  }
  const working = Array.from({ length: workers }, (_, index) => work(index))
  return {
    /** Times of the good answers, by the monotonic clock. */
    answered,
    failures,
    /** The number of repeated requests. */
    get retried() {
      return retried
    },
    async stop() {
      isOver = true
      await Promise.all(working)
    },
  }
}

/** There was no connection, or the answer has `Retry-After`. */
function retryAfterMs(error: unknown): number | undefined {
  if (!(error instanceof StatusError)) return error instanceof UnsentError ? 20 : undefined
  const { retryAfterSeconds } = error.status.details ?? {}
  return (error.code === 429 || error.code === 503) && retryAfterSeconds !== undefined ? retryAfterSeconds * 1_000 : undefined
}

function describe(error: unknown): string {
  const { code = '', message } = error as { code?: string | number; message: string }
  return `${code} ${message}`
}

/** The longest time without a good answer that overlaps the time span. */
export function longestGapMs(answered: readonly number[], { from, until }: { from: number; until: number }): number {
  let longest = 0
  let before = from
  for (const at of answered) {
    if (at < from) continue
    if (at > until) break
    longest = Math.max(longest, at - before)
    before = at
  }
  return longest
}
