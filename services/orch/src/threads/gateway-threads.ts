import { MessageChannel, Worker } from 'node:worker_threads'
import type { StorageService } from '@orch/core/contracts'
import { type MetricRows, messageOf, retryDelayMs, sleep } from '@orch/platform'
import { dialThread, type Offer, serveContract, serveThread } from '@orch/platform/thread-link'
import { StartError } from '../process/terminal.ts'
import type { StopOptions, Surroundings } from '../surroundings.ts'
import { createKnownLists, knownListsContract } from './cached-reads.ts'
import { firstThreadContract, type GatewayThreadService, gatewayThreadContract, type ThreadStart } from './contracts.ts'
import { createFirstThread, type FirstThreadParts } from './first-thread.ts'

/** The dependencies of the further threads of a server. */
export interface GatewayThreadsOptions extends Omit<ThreadStart, 'index' | 'checks' | 'first' | 'own'> {
  readonly storage: StorageService
  /** The services of the process. */
  readonly offers: readonly Offer[]
  readonly first: FirstThreadParts
}

/** The longest wait for the metrics of a thread; without them the answer has the other threads' metrics. */
const metricsMs = 2_000
/** The longest pause before a new thread replaces an ended one. */
const restartDelayMsMax = 2_000

/** Threads with a gateway each, besides the first thread, which holds the services. An ended thread is replaced. */
export interface GatewayThreads {
  /** The metrics of each thread. */
  metrics(): Promise<(readonly MetricRows[])[]>
  /** Ends all gateways and their threads. */
  close(how: StopOptions): Promise<void>
}

/** Starts the threads; resolves when all listen. */
export async function openGatewayThreads(options: GatewayThreadsOptions, surroundings: Surroundings): Promise<GatewayThreads> {
  const { storage, first } = options
  const offers = [
    ...options.offers,
    serveContract(knownListsContract, createKnownLists(storage)),
    serveContract(firstThreadContract, createFirstThread(first)),
  ]
  const pool = Array.from({ length: options.threads - 1 }, (_, before) => new GatewayThread(before + 1, { options, offers, surroundings }))
  const started = await Promise.allSettled(pool.map((thread) => thread.start()))
  const close = async (how: StopOptions) => {
    await Promise.all(pool.map((thread) => thread.close(how)))
  }
  const failed = started.find((result) => result.status === 'rejected')
  if (failed !== undefined) {
    await close({ delayMs: 0, graceMs: 0 })
    throw new StartError(`a thread of --threads=${options.threads} cannot start: ${messageOf(failed.reason)}`, { cause: failed.reason })
  }
  return { metrics: async () => (await Promise.all(pool.map((thread) => thread.metrics()))).filter((rows) => rows !== undefined), close }
}

interface ThreadNeeds {
  readonly options: GatewayThreadsOptions
  readonly offers: readonly Offer[]
  readonly surroundings: Surroundings
}

/** A running thread with its links. */
interface Running {
  readonly service: GatewayThreadService
  readonly ended: Promise<void>
}

/** A slot with its current thread; a new thread replaces an ended one. */
class GatewayThread {
  readonly #index: number
  readonly #needs: ThreadNeeds
  readonly #closing = new AbortController()
  #running: Running | undefined
  #keeping: Promise<void> | undefined

  constructor(index: number, needs: ThreadNeeds) {
    this.#index = index
    this.#needs = needs
  }

  /** Resolves when the thread listens. From then on an ended thread is replaced. */
  async start(): Promise<void> {
    await this.#begin()
    this.#keeping = this.#keep()
  }

  /** Undefined if the thread has just ended or does not answer. */
  async metrics(): Promise<readonly MetricRows[] | undefined> {
    try {
      return (await this.#running?.service.metrics({}, { timeoutMs: metricsMs }))?.rows
    } catch (error) {
      this.#needs.surroundings.log.warn({ err: error, thread: this.#index }, 'the metrics of a thread are missing')
      return undefined
    }
  }

  async close(how: StopOptions): Promise<void> {
    this.#closing.abort()
    await this.#end(how)
    await this.#keeping
  }

  /** Does not use `terminate`: Node.js ends the process if that interrupts the read of an HTTP/2 request. */
  async #end(how: StopOptions): Promise<void> {
    const running = this.#running
    try {
      await running?.service.close(how)
    } catch (error) {
      this.#needs.surroundings.log.debug({ err: error, thread: this.#index }, 'a thread ended before it was closed')
    }
    await running?.ended
  }

  /** Starts a new thread whenever one has ended, until it is closed. */
  async #keep(): Promise<void> {
    const { chance, clock, log } = this.#needs.surroundings
    const { signal } = this.#closing
    for (let attempt = 1; ; attempt += 1) {
      await this.#running?.ended
      this.#running = undefined
      if (signal.aborted) return
      log.error({ thread: this.#index }, 'a thread has ended with its connections; another one takes its place')
      if (attempt > 1) await sleep(clock, retryDelayMs({ attempt, maxMs: restartDelayMsMax, random: chance.fraction() }), signal)
      try {
        if (!signal.aborted) await this.#begin()
        attempt = 0
      } catch (error) {
        log.error({ err: error, thread: this.#index }, 'a thread cannot start')
      }
    }
  }

  async #begin(): Promise<void> {
    const { options, offers, surroundings } = this.#needs
    const { clock, log } = surroundings
    const { storage: _storage, offers: _offers, first, ...shared } = options
    const [toFirst, toThread] = [new MessageChannel(), new MessageChannel()]
    const checks = first.checks.map(({ name, condition }) => ({ name, condition }))
    const start: ThreadStart = { ...shared, index: this.#index, checks, first: toFirst.port2, own: toThread.port2 }
    const offer = serveThread(toFirst.port1, offers, { clock })
    const link = dialThread(toThread.port1, { clock })
    const worker = startWorker(start)
    worker.on('error', (error) => log.error({ err: error, thread: this.#index }, 'a thread has failed'))
    const ended = new Promise<void>((resolve) => {
      worker.once('exit', () => {
        offer.close()
        link.close()
        resolve()
      })
    })
    await listening(worker)
    this.#running = { service: link.service(gatewayThreadContract), ended }
    if (this.#closing.signal.aborted) await this.#end({ delayMs: 0, graceMs: 0 })
  }
}

/** Runs the file beside this one. Sources use the last bundle, because each thread would need a second to load hundreds of sources. */
function startWorker(start: ThreadStart): Worker {
  const folder = import.meta.url.endsWith('.ts') ? '../../dist/bundle/' : './'
  return new Worker(new URL(`${folder}gateway-thread.js`, import.meta.url), {
    workerData: start,
    transferList: [start.first, start.own],
    // Preloaded modules are only for the process's first thread.
    execArgv: [],
  })
}

/** Resolves when the thread reports that it listens; rejects if it ends first. */
function listening(worker: Worker): Promise<void> {
  return new Promise((resolve, reject) => {
    worker.once('message', () => resolve())
    worker.once('error', reject)
    worker.once('exit', (code) => reject(new Error(`the thread has ended with code ${code}`)))
  })
}
