import type { Client } from '@orch/client'
import { StatusError } from '@orch/core/meta'
import { sleep, systemClock } from '@orch/platform'
import { type ChaosObject, configMaps, namespace } from './load.ts'

/** The observations of one request loop. */
export interface Track {
  /** Times of the good answers, by the monotonic clock. */
  readonly answered: number[]
  readonly failures: { readonly atMs: number; readonly why: string }[]
}

/** Writers and readers that send requests without pauses. */
export interface RoamingLoad {
  /** The longest wait for an answer. */
  answerMs: number
  /** A client that uses the next gateway when a gateway fails or is silent too long. */
  readonly writer: Track
  readonly reader: Track
  /** Clients that each stay at one gateway. */
  readonly writers: readonly Track[]
  readonly readers: readonly Track[]
  stop(): Promise<void>
}

/** The longest wait of these clients for an answer. It is long enough that a server notices every fault that it can notice. */
export const patientMs = 10_000
/** The longest wait while a gateway is stopped, which only its clients can notice, by the silence. */
export const impatientMs = 2_000
const pauseMs = 20

type Send = (client: Client, signal: AbortSignal) => Promise<unknown>

/** Starts the clients. */
export function startRoamingLoad(clients: readonly Client[]): RoamingLoad {
  let isOver = false
  const patience = { answerMs: patientMs }
  const working: Promise<void>[] = []
  const track = (those: readonly Client[], steps: readonly Send[]): Track => {
    const result: Track = { answered: [], failures: [] }
    const work = async () => {
      for (let [at, round] = [0, 0]; !isOver; round += 1) {
        const client = those[at % those.length] as Client
        try {
          await (steps[round % steps.length] as Send)(client, AbortSignal.timeout(patience.answerMs))
          result.answered.push(performance.now())
          await sleep(systemClock, pauseMs)
        } catch (error) {
          result.failures.push({ atMs: performance.now(), why: describe(error) })
          at += 1
          await sleep(systemClock, pauseMs)
        }
      }
    }
    working.push(work())
    return result
  }
  const all = [clients, ...clients.map((client) => [client])]
  const writers = all.map((those, index) => track(those, writesOf(`roaming-${index}`)))
  const readers = all.map((those) => track(those, [(client, signal) => client.resource(configMaps).get('roaming', { namespace, signal })]))
  return Object.assign(patience, {
    writer: writers[0] as Track,
    reader: readers[0] as Track,
    writers: writers.slice(1),
    readers: readers.slice(1),
    async stop() {
      isOver = true
      await Promise.all(working)
    },
  })
}

/** An apply, a create and a delete, repeatedly. */
function writesOf(name: string): readonly Send[] {
  let count = 0
  const object = (own: string): ChaosObject => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: own, namespace, labels: { app: 'web' } },
    data: { text: String(count++) },
  })
  const resource = (client: Client) => client.resource(configMaps)
  return [
    (client, signal) =>
      resource(client).patch(name, object(name), { type: 'apply', namespace, fieldManager: 'roaming', force: true, signal }),
    (client, signal) => resource(client).create(object(`${name}-${count}`), { signal }),
    async (client, signal) => {
      await resource(client)
        .delete(`${name}-${count - 1}`, { namespace, signal })
        .catch((error: unknown) => {
          if (!(error instanceof StatusError) || error.code !== 404) throw error
        })
    },
  ]
}

function describe(error: unknown): string {
  const { code = '', message } = error as { code?: string | number; message: string }
  return `${code} ${message.replace(/\d{4,}/g, 'N')}`
}
