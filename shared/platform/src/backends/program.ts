import { type ChildProcess, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { get } from 'node:http'
import { createServer, type Server } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { systemClock } from '../clock.ts'
import { portOf } from '../listening-port.ts'
import {
  backendPollIntervalMs,
  backendReadyTimeoutMs,
  backendStopTimeoutMs,
  firstFreePort,
  freePortAttemptsMax,
  freePortParts,
  lastFreePort,
} from './limits.ts'

/** A running program that can be stopped and started again with the same ports and data. */
export interface Program {
  /** host:port that clients dial. */
  readonly address: string
  readonly dataDir: string
  /** Undefined while the program is down. */
  readonly pid: number | undefined
  /** Ends the program without warning, as a crash would. */
  kill(): Promise<void>
  /** Starts the program again, and waits until it is ready. */
  start(): Promise<void>
  /** Suspends the program; its connections stay open. */
  pause(): void
  resume(): void
  /** Stops the program; it may be started again. */
  stop(): Promise<void>
  /** Resolves when the program is down, with its exit code or signal, and its last output. */
  ended(): Promise<string>
}

/** The program ended because another program listens on one of its addresses. */
export class ProgramPortError extends Error {
  override readonly name = 'ProgramPortError'
  /** `127.0.0.1:2379`. */
  readonly address: string

  constructor(path: string, address: string) {
    super(`${path}: ${address} is in use by another program`)
    this.address = address
  }
}

export interface ProgramOptions {
  readonly path: string
  readonly arguments: readonly string[]
  readonly address: string
  readonly dataDir: string
  /** A URL that answers 200 over plain HTTP when the program is ready. */
  readonly healthUrl: string
}

/** Starts a program and waits until it is ready. */
export async function openProgram(options: ProgramOptions): Promise<Program> {
  const program = new ChildProgram(options)
  await program.start()
  return program
}

/**
 * Free ports of the loopback interface that stay free until they are used. They are outside the range from which
 * systems assign ports to connections and to servers at port 0 (from 32768, on some systems from 49152), and are never ports
 * that this process was given before, since their owner may be about to reuse them.
 */
export async function freePorts(count: number, { first, last } = ownPart()): Promise<number[]> {
  const servers: Server[] = []
  try {
    for (let attempt = 0; servers.length < count; attempt += 1) {
      if (attempt === freePortAttemptsMax + count) throw new Error(`${count} free ports from ${first} to ${last} were not found`)
      const port = randomInt(first, last + 1)
      const server = given.has(port) ? undefined : await listenAt(port)
      if (server === undefined) continue
      given.add(port)
      servers.push(server)
    }
    return servers.map((server) => portOf(server))
  } finally {
    await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  }
}

const given = new Set<number>()

/** The range of this process. Parallel processes of a test run have pool numbers and search different ranges. */
function ownPart() {
  const size = Math.floor((lastFreePort + 1 - firstFreePort) / freePortParts)
  const first = firstFreePort + (Number(process.env['VITEST_POOL_ID'] ?? 0) % freePortParts) * size
  return { first, last: first + size - 1 }
}

const takenCodes: ReadonlySet<string | undefined> = new Set(['EADDRINUSE', 'EACCES'])

function listenAt(port: number): Promise<Server | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<Server | undefined>()
  const server = createServer()
  server.once('error', (error: NodeJS.ErrnoException) => (takenCodes.has(error.code) ? resolve(undefined) : reject(error)))
  server.listen(port, '127.0.0.1', () => resolve(server))
  return promise
}

/** The prefix of a command that ends together with this process; empty on systems without such a tool. */
const endingWithUs = existsSync('/usr/bin/setpriv') ? ['/usr/bin/setpriv', '--pdeathsig', 'KILL'] : []

class ChildProgram implements Program {
  readonly #options: ProgramOptions
  readonly #end = () => void this.#child?.kill('SIGKILL')
  #child: ChildProcess | undefined
  #said = ''
  #ended = Promise.withResolvers<string>()

  constructor(options: ProgramOptions) {
    this.#options = options
  }

  get address(): string {
    return this.#options.address
  }

  get dataDir(): string {
    return this.#options.dataDir
  }

  get pid(): number | undefined {
    return this.#child?.pid
  }

  async start(): Promise<void> {
    if (this.#child !== undefined) return
    const { path, arguments: given } = this.#options
    const [command = path, ...before] = endingWithUs
    const child = spawn(command, endingWithUs.length === 0 ? given : [...before, path, ...given], { stdio: ['ignore', 'ignore', 'pipe'] })
    this.#child = child
    this.#said = ''
    this.#ended = Promise.withResolvers()
    child.stderr.setEncoding('utf8')
    child.stderr.on('data', (text: string) => {
      this.#said = (this.#said + text).slice(-2_000)
    })
    child.once('error', (error) => {
      this.#said = error.message
      this.#gone(child, 'not started')
    })
    child.once('close', (code, signal) => this.#gone(child, signal ?? `exit code ${code}`))
    process.once('exit', this.#end)
    try {
      await this.#ready()
    } catch (error) {
      await this.kill()
      throw error
    }
  }

  async kill(): Promise<void> {
    await this.#signal('SIGKILL')
  }

  pause(): void {
    this.#child?.kill('SIGSTOP')
  }

  resume(): void {
    this.#child?.kill('SIGCONT')
  }

  async stop(): Promise<void> {
    const killing = setTimeout(() => this.#child?.kill('SIGKILL'), backendStopTimeoutMs)
    await this.#signal('SIGTERM')
    clearTimeout(killing)
  }

  async #signal(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const child = this.#child
    if (child === undefined) return
    const exited = once(child, 'close')
    child.kill(signal)
    child.kill('SIGCONT')
    await exited
  }

  ended(): Promise<string> {
    return this.#ended.promise
  }

  #gone(child: ChildProcess, end: string): void {
    if (this.#child === child) this.#child = undefined
    process.removeListener('exit', this.#end)
    this.#ended.resolve([end, this.#said.trim()].filter((text) => text !== '').join(': '))
  }

  async #ready(): Promise<void> {
    const deadlineMs = systemClock.monotonic() + backendReadyTimeoutMs
    while (this.#child !== undefined && systemClock.monotonic() < deadlineMs) {
      if (await isHealthy(this.#options.healthUrl)) return
      await delay(backendPollIntervalMs)
    }
    const { path } = this.#options
    // The address that a Go program could not listen on: `listen tcp 127.0.0.1:2379: bind: address already in use`.
    const taken = /listen tcp (\S+): bind: address already in use/.exec(this.#said)?.[1]
    throw taken === undefined ? new Error(`${path} did not become ready: ${this.#said}`) : new ProgramPortError(path, taken)
  }
}

function isHealthy(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get(url, { agent: false, timeout: 1_000 }, (response) => {
      response.resume()
      resolve(response.statusCode === 200)
    })
    request.once('timeout', () => request.destroy())
    // An answer that changes the protocol is reported by no other event.
    request.on('error', () => {}).once('close', () => resolve(false))
  })
}
