import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Captured, runCtl } from '@orch/ctl'
import type { StatusLine } from '@orch/platform'
import { type RunningServer, type StartOptions, start } from 'orch'
import { beforeAll, beforeEach } from 'vitest'

/** The exit code and the output of a command. */
export interface Ran {
  readonly code: number
  readonly out: string
  readonly error: string
}

/** The environment of a command. */
export interface CtlOptions {
  readonly input?: string
  readonly signal?: AbortSignal
  readonly env?: Readonly<Record<string, string>>
  readonly hasColors?: boolean
  readonly lineWidth?: number
  readonly statusLine?: StatusLine
  /** The command calls this with all output so far. */
  readonly seen?: (out: string) => void
  /** Replaces the programs that the command runs. */
  readonly run?: (program: string, words: readonly string[]) => number
  /** Replaces the programs whose output the command reads. */
  readonly capture?: (program: string, words: readonly string[]) => Captured | undefined
}

/** Runs the client in this process with the configuration file `config` of a folder. */
export async function runCtlIn(folder: string, args: readonly string[], options: CtlOptions = {}): Promise<Ran> {
  const {
    input = '',
    signal = new AbortController().signal,
    env = {},
    hasColors = false,
    seen,
    run = () => 1,
    capture = () => undefined,
  } = options
  let out = ''
  let error = ''
  const code = await runCtl({
    arguments: args,
    env: { KUBECONFIG: join(folder, 'config'), ...env },
    workingFolder: folder,
    homeFolder: folder,
    isInteractive: false,
    hasColors,
    lineWidth: () => options.lineWidth,
    out(text) {
      out += text
      seen?.(out)
    },
    error(text) {
      error += text
    },
    readInput: async () => input,
    run: async (program, words) => run(program, words),
    capture: async (program, words) => capture(program, words),
    ...(options.statusLine === undefined ? {} : { statusLine: options.statusLine }),
    signal,
  })
  return { code, out, error }
}

/** A server with the names of Kubernetes for the tests of a file, and the client. Each test finds the server empty. */
export class CtlServer {
  #server: RunningServer | undefined
  #folder = ''

  constructor(optionsIn: (folder: string) => StartOptions = () => ({})) {
    beforeAll(async () => {
      this.#folder = mkdtempSync(join(tmpdir(), 'orchctl-'))
      this.#server = await start({ profile: 'kubernetes', ...optionsIn(this.#folder) })
      writeFileSync(join(this.#folder, 'config'), this.#server.kubeconfig)
      return async () => {
        await this.#server?.stop()
        rmSync(this.#folder, { recursive: true, force: true })
      }
    })
    beforeEach(() => this.server.reset())
  }

  /** The client's home and working folder. */
  get folder(): string {
    return this.#folder
  }

  get server(): RunningServer {
    if (this.#server === undefined) throw new Error('the server starts before the first test')
    return this.#server
  }

  /** Runs the client with the administrator's configuration. */
  readonly ctl = (args: readonly string[], options: CtlOptions = {}): Promise<Ran> => runCtlIn(this.folder, args, options)
}
