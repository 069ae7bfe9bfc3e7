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
import { readEncryption } from '../../services/orch/src/encryption/open.ts'
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
  /** No credential is shown. */
  readonly isAnonymous?: boolean
  /** Replaces parts of the administrator's configuration. */
  readonly configuration?: Partial<ClientConfiguration>
}

/** A server with two threads that take requests. */
export interface ThreadedServer {
  readonly url: string
  readonly port: number
  /** The administrator's. */
  readonly configuration: ClientConfiguration
  /** The threads that were started beside the first one, in their order. */
  readonly workers: readonly { readonly worker: Worker; readonly listening: Promise<void> }[]
  /** A connection to the first thread or to another one, with the administrator's certificate unless the headers have credentials. */
  connect(thread: 'first' | 'other', how?: ConnectionOptions): Promise<Connection>
  /** The stored state. */
  readonly store: Store
  /** From now on the first thread runs its periodic work of such an interval when it is called, and at no other time. */
  holdEvery(intervalMs: number): () => void
  /** Runs the first thread's periodic work of such an interval now. */
  runEvery(intervalMs: number): void
  /** For the first thread no time passes any more between two looks at the clock. */
  freeze(): void
  stop(): Promise<void>
}

/** Number of connections of which two threads each get some. */
const connectionsMax = 100

/** Starts it in memory on a free port; ends it with the test, unless `finish` does so at another time. */
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
  /** Ids of the requests that the first thread has answered; this is the same thread. */
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
    watchHistoryMs: options.settings.watchHistoryMs,
    encryption: readEncryption(options.settings),
    store,
    certificateFiles: certificateMemory(),
    freezesLinks: false,
    hasProcessMetrics: false,
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
      // The line is written when the answer has left, a turn or two later.
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

/** The machine's clock, of which intervals and the passing of time are in the hands of a test. */
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
