import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { type LogFormat, retryDelayMs, sleep } from '@orch/platform'
import { AddressTakenError, type ReadyMessage, type StarterMessage } from '../process/terminal.ts'
import type { Surroundings } from '../surroundings.ts'

/** One process of `orch up --distributed`. */
interface ChildOptions {
  /** Prefix of its lines: `storage-1`. */
  readonly name: string
  /** Arguments of `orch`. */
  readonly arguments: readonly string[]
}

export interface ChildrenOptions extends Pick<Surroundings, 'clock' | 'log'> {
  /** The Node and the arguments of each process. */
  readonly node: { readonly path: string; readonly arguments: readonly string[]; readonly entry: string }
  readonly env: Readonly<Record<string, string | undefined>>
  readonly workingFolder: string
  readonly logFormat: LogFormat
  readonly random: () => number
  /** Receives lines of the children's logs. */
  readonly write: (text: string) => void
}

/** Child processes that end with this one. */
export type Children = ReturnType<typeof createChildren>

/** Maximum delay before a repeatedly ending process is restarted. */
const restartDelayMsMax = 10_000
/** Timeout of readiness at the start. */
const readyTimeoutMs = 60_000
/** Timeout of the end of a process: slightly more than its own timeouts of watches and requests. */
const stopTimeoutMs = 75_000

/** Starts processes that notice by their channel when this one has ended. */
export function createChildren(options: ChildrenOptions) {
  const running = new Map<string, Running>()
  return {
    /**
     * Starts a process and restarts it when it ends by itself. Resolves when it is first ready; rejects with an `AddressTakenError` if another program
     * uses its port.
     */
    async start(child: ChildOptions) {
      const one = new Running(child, options)
      running.set(child.name, one)
      return one.ready
    },
    /** Ends the processes with this name prefix, and resolves when they have ended. SIGTERM lets clients leave first, as a service's flags say. */
    async stop(namePrefix: string, signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM') {
      const those = [...running].filter(([name]) => name.startsWith(namePrefix))
      await Promise.all(those.map(([, one]) => one.stop(signal)))
    },
  }
}

class Running {
  readonly ready: Promise<ReadyMessage>
  readonly #child: ChildOptions
  readonly #options: ChildrenOptions
  readonly #ending = new AbortController()
  readonly #done: Promise<void>
  readonly #setReady: (message: ReadyMessage) => void
  readonly #setFailed: (error: Error) => void
  #process: ChildProcess | undefined

  constructor(child: ChildOptions, options: ChildrenOptions) {
    this.#child = child
    this.#options = options
    const { promise, resolve, reject } = Promise.withResolvers<ReadyMessage>()
    this.ready = promise
    this.#setReady = resolve
    this.#setFailed = reject
    promise.catch(() => {})
    this.#done = this.#run()
    void sleep(options.clock, readyTimeoutMs, this.#ending.signal).then(() => reject(new Error(`${child.name} did not become ready`)))
  }

  async stop(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    this.#ending.abort()
    const process = this.#process
    process?.kill(signal)
    const enough = new AbortController()
    void sleep(this.#options.clock, stopTimeoutMs, enough.signal).then(() => enough.signal.aborted || process?.kill('SIGKILL'))
    await this.#done
    enough.abort()
  }

  async #run(): Promise<void> {
    const { clock, random, log } = this.#options
    const { signal } = this.#ending
    for (let attempt = 1; !signal.aborted; attempt += 1) {
      let wasReady = false
      const { ended, reason, takenAddress } = await this.#once(() => {
        wasReady = true
      })
      if (signal.aborted) return
      const { name } = this.#child
      if (attempt === 1 && !wasReady) {
        const message = `${name} ended before it was ready: ${reason ?? ended}`
        return this.#setFailed(takenAddress === undefined ? new Error(message) : new AddressTakenError(message, { address: takenAddress }))
      }
      if (wasReady) attempt = 1
      log.error({ process: name, ended }, 'a process ended by itself and is started again')
      await sleep(clock, retryDelayMs({ attempt, maxMs: restartDelayMsMax, random: random() }), signal)
    }
  }

  /** Runs the process to its end. */
  async #once(onReady: () => void): Promise<End> {
    const { node, env, workingFolder, logFormat, write } = this.#options
    const process = spawn(node.path, [...node.arguments, node.entry, ...this.#child.arguments], {
      cwd: workingFolder,
      env: { ...env },
      // A separate process group: a signal from the terminal reaches only this process, which ends the others in order.
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    })
    this.#process = process
    let failure: Omit<End, 'ended'> = { reason: undefined, takenAddress: undefined }
    process.on('message', (message: StarterMessage) => {
      if (message.kind === 'failed') {
        failure = { reason: message.reason, takenAddress: message.takenAddress }
        return
      }
      onReady()
      this.#setReady(message)
    })
    const { stderr } = process
    if (stderr !== null) forwardLines(stderr, (line) => write(withName(line, this.#child.name, logFormat)))
    const [code, signal] = (await once(process, 'close')) as [number | null, NodeJS.Signals | null]
    // Its last message may be read after its end.
    if (process.connected) await once(process, 'disconnect')
    return { ended: signal ?? `exit code ${code}`, ...failure }
  }
}

/** The end of a process. */
interface End {
  /** Its exit code or signal. */
  readonly ended: string
  /** Its printed reason, if there is one. */
  readonly reason: string | undefined
  /** The address in use by another program, if that ended it. */
  readonly takenAddress: string | undefined
}

/** Maximum bytes of a forwarded line. */
const lineLengthMax = 65_536

function forwardLines(stream: NodeJS.ReadableStream, write: (line: string) => void): void {
  let rest = ''
  stream.setEncoding('utf8')
  stream.on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = (lines.pop() ?? '').slice(0, lineLengthMax)
    for (const line of lines) write(line)
  })
  stream.on('end', () => {
    if (rest !== '') write(rest)
  })
}

/** `storage-1 | 12:00:01.123 info  ready`, or an additional member in JSON. */
function withName(line: string, name: string, format: LogFormat): string {
  if (format === 'json' && line.startsWith('{"')) return `{"process":${JSON.stringify(name)},${line.slice(1)}\n`
  return `${name.padEnd(13)}| ${line}\n`
}
