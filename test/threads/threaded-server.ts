import { setImmediate } from 'node:timers/promises'
import type { Worker } from 'node:worker_threads'
import {
  type Client,
  type ClientConfiguration,
  createClient,
  createHttpsTransport,
  type HttpsTransportOptions,
  type Transport,
  type TransportResponse,
} from '@orch/client'
import type { Store } from '@orch/core/contracts'
import { type Clock, certificateMemory, createLog, systemChance, systemClock } from '@orch/platform'
import { onTestFinished } from 'vitest'
import { startServer } from '../../services/orch/src/server.ts'
import { readUpOptions } from '../../services/orch/src/settings/up.ts'
import { createMemoryStore } from '../../services/storage/src/index.ts'

/** A connection to one of the threads. */
export interface Connection {
  readonly client: Client
  readonly transport: Transport
  close(): void
}

interface ConnectionOptions extends HttpsTransportOptions {
  readonly headers?: Readonly<Record<string, string>>
  /** The client shows no credential. */
  readonly isAnonymous?: boolean
  /** Replaces parts of the administrator's configuration. */
  readonly configuration?: Partial<ClientConfiguration>
}

/** A server with two threads that accept requests. */
export interface ThreadedServer {
  readonly url: string
  readonly port: number
  /** The administrator's configuration. */
  readonly configuration: ClientConfiguration
  /** The threads other than the first, in start order. */
  readonly workers: readonly { readonly worker: Worker; readonly listening: Promise<void> }[]
  /** A connection to the first or another thread, with the administrator's certificate unless the headers contain credentials. */
  connect(thread: 'first' | 'other', how?: ConnectionOptions): Promise<Connection>
  /** The stored state. */
  readonly store: Store
  /** From now on the first thread runs its periodic work with this interval only when the test calls it. */
  holdEvery(intervalMs: number): () => void
  /** Runs the first thread's periodic work with this interval now. */
  runEvery(intervalMs: number): void
  /** From now on the first thread's clock stands still. */
  freeze(): void
  stop(): Promise<void>
}

/** A number of connections at which each of two threads receives some. */
const connectionsMax = 100

/** Starts a server in memory on a free port. The server ends with the test unless `finish` ends it earlier. */
export async function startThreaded(
  flags: readonly string[] = [],
  finish: (stop: () => Promise<void>) => void = onTestFinished,
): Promise<ThreadedServer> {
  const given = ['--threads=2', '--memory', '--secure-port=0', '--log-level=silent', ...flags]
  const ignore = () => {}
  const options = await readUpOptions({ arguments: [], env: {}, workingFolder: '/', out: ignore, error: ignore }, given)
  const workers: { worker: Worker; listening: Promise<void> }[] = []
  const onWorker = (worker: Worker) => {
    workers.push({ worker, listening: new Promise((resolve) => worker.once('message', () => resolve())) })
  }
  /** The ids of the requests that the first thread, which is this thread, has answered. */
  const answeredFirst = new Set<string>()
  const write = (line: string) => {
    const { msg, auditId } = JSON.parse(line)
    if (msg === 'request') answeredFirst.add(auditId)
  }
  process.on('worker', onWorker)
  const { clock, ...time } = controlledClock()
  const store = createMemoryStore()
  const server = await startServer({
    ...options,
    store,
    certificateFiles: certificateMemory(),
    threads: { count: options.settings.threads, flags: given },
    clock,
    chance: systemChance,
    log: createLog({ level: 'debug', format: 'json', write }),
  })
  let stopping: Promise<void> | undefined
  const stop = () => {
    process.off('worker', onWorker)
    stopping ??= server.stop({ delayMs: 0, graceMs: 0 })
    return stopping
  }
  finish(stop)
  const connect = async (thread: 'first' | 'other', how: ConnectionOptions = {}): Promise<Connection> => {
    const { clientCertificate, clientKey, ...anonymous } = server.configuration
    const isOther = how.isAnonymous === true || how.headers?.['authorization'] !== undefined
    const configuration = { ...(isOther ? anonymous : server.configuration), ...how.configuration }
    for (let attempt = 0; attempt < connectionsMax; attempt += 1) {
      const transport = createHttpsTransport(configuration, how)
      const response = await transport.send({ method: 'GET', path: '/version', headers: {} })
      await textOf(response)
      // The server logs the line one or two turns after it has sent the answer.
      for (let turn = 0; turn < 10; turn += 1) await setImmediate()
      if (answeredFirst.has(response.headers['audit-id'] ?? '') === (thread === 'first')) {
        const client = createClient(transport)
        const close = () => client.close()
        onTestFinished(close)
        return { client, transport, close }
      }
      transport.close()
    }
    throw new Error(`no connection has reached the ${thread} thread`)
  }
  const { url, configuration } = server
  return { url, configuration, port: Number(new URL(url).port), workers, connect, store, ...time, stop }
}

/** The machine's clock, whose intervals and time a test controls. */
function controlledClock() {
  const intervals = new Set<{ readonly intervalMs: number; readonly callback: () => void }>()
  const held = new Set<number>()
  let frozenMs: number | undefined
  const clock: Clock = {
    ...systemClock,
    monotonic: () => frozenMs ?? systemClock.monotonic(),
    every(intervalMs, callback) {
      const timer = systemClock.every(intervalMs, () => {
        if (!held.has(intervalMs)) callback()
      })
      const interval = { intervalMs, callback }
      intervals.add(interval)
      return {
        cancel() {
          intervals.delete(interval)
          timer.cancel()
        },
      }
    },
  }
  const runEvery = (intervalMs: number) => {
    for (const interval of [...intervals]) if (interval.intervalMs === intervalMs) interval.callback()
  }
  return {
    clock,
    runEvery,
    holdEvery(intervalMs: number) {
      held.add(intervalMs)
      return () => runEvery(intervalMs)
    },
    freeze() {
      frozenMs = clock.monotonic()
    },
  }
}

/** The whole body. */
export async function textOf(response: TransportResponse): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of response.body) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

/** The path of the ConfigMaps of a namespace. */
export const maps = '/api/v1/namespaces/default/configmaps'

export async function get({ transport }: Connection, path: string) {
  const response = await transport.send({ method: 'GET', path, headers: {} })
  return { status: response.status, text: await textOf(response) }
}

export async function post({ transport }: Connection, path: string, object: object) {
  const headers = { 'content-type': 'application/json' }
  const response = await transport.send({ method: 'POST', path, headers, body: JSON.stringify(object) })
  return { status: response.status, text: await textOf(response) }
}
