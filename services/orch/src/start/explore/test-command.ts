import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, ftruncateSync, mkdtempDisposableSync, openSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { messageOf, SettingsError, sleep, systemClock } from '@orch/platform'
import { StartError } from '../../start-error.ts'
import { explorationVariable } from './weather.ts'

/** A command with its bounds. */
export interface CommandOptions {
  readonly command: readonly string[]
  readonly env: NodeJS.ProcessEnv
  /** Duration after which a run is ended and has failed. */
  readonly timeoutMs: number
  /** The command writes to the terminal. */
  readonly isVerbose: boolean
  /** Ends a run and rejects it. */
  readonly signal: AbortSignal
}

/** The last bytes of output that are kept. */
const outputBytesMax = 64 * 1024

/** A test command, which passes with exit code 0. No process of a run outlives it. */
export class TestCommand implements Disposable {
  readonly #options: CommandOptions
  // Processes that the command leaves behind would hold a pipe open.
  readonly #folder = mkdtempDisposableSync(join(tmpdir(), 'orch-explore-'))
  readonly #file = join(this.#folder.path, 'output')
  readonly #output = openSync(this.#file, 'a', 0o600)
  #ended = ''

  constructor(options: CommandOptions) {
    this.#options = options
  }

  readonly run = async (exploration: string): Promise<boolean> => {
    const { command, env, isVerbose, signal } = this.#options
    const [program = '', ...words] = command
    const output = isVerbose ? 'inherit' : this.#output
    ftruncateSync(this.#output)
    // The command leads a process group, which is ended with it.
    const child = spawn(program, words, {
      env: { ...env, [explorationVariable]: exploration },
      stdio: ['ignore', output, output],
      detached: true,
    })
    try {
      this.#ended = await this.#untilEnd(child)
    } catch (error) {
      throw new SettingsError(`${program} cannot be run: ${reasonOf(error)}`)
    } finally {
      endGroup(child)
    }
    if (signal.aborted) throw new StartError('the exploration was interrupted')
    return this.#ended === 'exit code 0'
  }

  /** The end of the last run: an exit code, a signal, or the timeout. */
  get ended(): string {
    return this.#ended
  }

  /** The end of the last run's output. */
  get output(): string {
    return readFileSync(this.#file).subarray(-outputBytesMax).toString()
  }

  async #untilEnd(child: ChildProcess): Promise<string> {
    const { timeoutMs, signal } = this.#options
    const ended = new AbortController()
    const late = sleep(systemClock, timeoutMs, AbortSignal.any([signal, ended.signal])).then(() => undefined)
    const exit = await Promise.race([once(child, 'exit'), late])
    ended.abort()
    if (exit === undefined) return `no end after ${timeoutMs / 1_000} s`
    const [code, killedBy] = exit
    return killedBy ?? `exit code ${code}`
  }

  [Symbol.dispose](): void {
    closeSync(this.#output)
    this.#folder.remove()
  }
}

function reasonOf(error: unknown): string {
  const isAbsent = error instanceof Error && 'code' in error && error.code === 'ENOENT'
  return isAbsent ? 'there is no such program. The words of the command follow --, without quotes around all of them' : messageOf(error)
}

function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch (error) {
    // The group has ended.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}
