import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, ftruncateSync, mkdtempDisposableSync, openSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { messageOf, SettingsError, settingsOf, settingTypes, sleep, systemClock } from '@orch/platform'
import { printComplaint, StartError, shellQuote, type Terminal } from '../../process/terminal.ts'
import { generalSettings, readCommandSettings } from '../../settings/general.ts'
import { drawWeather, explorationVariable, metVariable } from './weather.ts'

const setting = settingsOf('Exploration')

/** The settings of `orch explore`. */
export const exploreSettings = {
  config: generalSettings.config,
  logFormat: generalSettings.logFormat,
  seeds: setting({ flag: '--seeds', type: settingTypes.string, default: '1..50' }, 'Seeds to try, such as 1..200, or one seed.'),
  timeout: setting(
    { flag: '--timeout', env: 'ORCH_EXPLORE_TIMEOUT', type: settingTypes.duration, default: '10m' },
    'Longest time of one run of the test command. A run that takes longer is ended, and has failed.',
  ),
  verbose: setting({ flag: '--verbose', type: settingTypes.bool, default: 'false' }, 'Shows the output of the test command.'),
}

/** `orch explore --seeds 1..200 -- npm test`: 0 if the command passes under each seed, else 1. */
export async function exploreCommand(terminal: Terminal, words: readonly string[]): Promise<number> {
  const end = words.indexOf('--')
  const command = end < 0 ? [] : words.slice(end + 1)
  if (command.length === 0)
    throw new SettingsError('a test command must follow --: orch explore --seeds 1..200 -- npx vitest run operator.test.ts')
  const { values } = await readCommandSettings(exploreSettings, terminal, words.slice(0, end))
  const seeds = readSeeds(values.seeds)
  const ending = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => ending.abort())
  const { timeout: timeoutMs, verbose: isVerbose } = values
  using test = new TestCommand({ command, env: terminal.env, timeoutMs, isVerbose, signal: ending.signal })
  const run = async (exploration: string) => {
    const passes = await test.run(exploration)
    if (!passes && exploration !== '') terminal.error(`  ${explorationVariable}=${exploration} fails: ${test.ended}\n`)
    return passes
  }
  if (!(await run(''))) {
    terminal.error(`${test.output}the test fails without weather: ${test.ended}\n`)
    return 1
  }
  const failure = await explore(seeds, run, (seed) => terminal.error(`seed ${seed}\n`))
  if (failure === undefined) {
    terminal.out(`the test passes under the seeds ${seeds.first} to ${seeds.last}\n`)
    if (!test.hasMetWeather) terminal.error(printComplaint(values.logFormat, 'warn', withoutWeather))
    return 0
  }
  const { seed, faults, exploration, isRepeatable } = failure
  if (faults.length === 0 && !(await run(''))) {
    terminal.error(`${test.output}since seed ${seed} the test fails without weather, too: ${test.ended}\n`)
    return 1
  }
  const lines = faults.length === 0 ? ['  no fault: the order of requests alone'] : faults.map((fault) => `  ${fault}`)
  const again = `${explorationVariable}=${exploration} ${command.map(shellQuote).join(' ')}`
  const repeated = isRepeatable
    ? 'It fails again with'
    : 'It passed when it was run again, so its failure depends on more than the seed. The command was'
  terminal.out([`the test fails under seed ${seed} with`, ...lines, repeated, `  ${again}`, ''].join('\n'))
  return 1
}

const withoutWeather =
  "no user of a server that the command has started met any weather: give the controller the client or the kubeconfig of server.user('operator'), as requests of server.client meet none"

/** Runs a test with a value of the variable; true: the test passes. */
export type RunTest = (exploration: string) => Promise<boolean>

/** A failing seed with the fewest faults. */
export interface Failure {
  readonly seed: number
  /** The value of the variable that fails again. */
  readonly exploration: string
  readonly faults: readonly string[]
  /** False if the test has also passed under these faults. */
  readonly isRepeatable: boolean
}

/** Reads `1..200` or `7`. */
export function readSeeds(text: string): { readonly first: number; readonly last: number } {
  const match = /^(\d{1,9})(?:\.\.(\d{1,9}))?$/.exec(text)
  const [first, last] = [Number(match?.[1]), Number(match?.[2] ?? match?.[1])]
  if (match === null || first > last) throw new SettingsError(`--seeds=${text}: must be a range of seeds such as 1..200, or one seed`)
  return { first, last }
}

/** The first seed under which a test fails, with its faults reduced one by one; undefined if all pass. */
export async function explore(
  { first, last }: { readonly first: number; readonly last: number },
  run: RunTest,
  onSeed: (seed: number) => void = () => {},
): Promise<Failure | undefined> {
  for (let seed = first; seed <= last; seed += 1) {
    onSeed(seed)
    if (!(await run(String(seed)))) return shorten(seed, run)
  }
  return undefined
}

/** Removes each fault that is not needed for the failure. */
async function shorten(seed: number, run: RunTest): Promise<Failure> {
  const weather = drawWeather(seed)
  const textOf = (indexes: readonly number[]) => `${seed}:${indexes.join(',')}`
  let needed = weather.map((_, index) => index)
  for (const index of [...needed]) {
    const others = needed.filter((one) => one !== index)
    if (!(await run(textOf(others)))) needed = others
  }
  const exploration = textOf(needed)
  // If a fault was removed, the test has just failed without it.
  const isRepeatable = needed.length < weather.length || !(await run(exploration))
  return { seed, exploration, faults: needed.map((index) => weather[index]?.text ?? ''), isRepeatable }
}

/** A command with its bounds. */
interface CommandOptions {
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
class TestCommand implements Disposable {
  readonly #options: CommandOptions
  // Processes that the command leaves behind would hold a pipe open.
  readonly #folder = mkdtempDisposableSync(join(tmpdir(), 'orch-explore-'))
  readonly #file = join(this.#folder.path, 'output')
  readonly #output = openSync(this.#file, 'a', 0o600)
  readonly #met = join(this.#folder.path, 'met')
  #ended = ''

  constructor(options: CommandOptions) {
    this.#options = options
    writeFileSync(this.#met, '', { mode: 0o600 })
  }

  readonly run = async (exploration: string): Promise<boolean> => {
    const { command, env, isVerbose, signal } = this.#options
    const [program = '', ...words] = command
    const output = isVerbose ? 'inherit' : this.#output
    ftruncateSync(this.#output)
    // The command leads a process group, which is ended with it.
    const child = spawn(program, words, {
      env: { ...env, [explorationVariable]: exploration, [metVariable]: this.#met },
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

  /** True if a user of a server met weather in a run. */
  get hasMetWeather(): boolean {
    return statSync(this.#met).size > 0
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
