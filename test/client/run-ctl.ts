import { join } from 'node:path'
import { type Captured, runCtl } from '@orch/ctl'
import type { StatusLine } from '@orch/platform'

/** How a command ended, and what it printed. */
export interface Ran {
  readonly code: number
  readonly out: string
  readonly error: string
}

/** What a command finds around it. */
export interface CtlOptions {
  readonly input?: string
  readonly signal?: AbortSignal
  readonly env?: Readonly<Record<string, string>>
  readonly hasColors?: boolean
  readonly lineWidth?: number
  readonly statusLine?: StatusLine
  /** Called with all that was printed until then. */
  readonly seen?: (out: string) => void
  /** In place of programs that the command runs. */
  readonly run?: (program: string, words: readonly string[]) => number
  /** In place of programs whose output the command reads. */
  readonly capture?: (program: string, words: readonly string[]) => Captured | undefined
}

/** Runs the client as a process would, with the configuration file `config` of a folder. */
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
