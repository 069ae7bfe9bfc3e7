import { spawn } from 'node:child_process'
import { SettingsError } from '@orch/platform'
import { drawWeather, explorationVariable } from './weather.ts'

/** Runs a test with a value of the variable; true: the test passes. */
export type RunTest = (exploration: string) => Promise<boolean>

/** A failing seed with the fewest faults. */
export interface Failure {
  readonly seed: number
  /** The value of the variable that fails again. */
  readonly exploration: string
  readonly faults: readonly string[]
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
  return { seed, exploration: textOf(needed), faults: needed.map((index) => weather[index]?.text ?? '') }
}

/** A command as a test: it passes with exit code 0. Shows its output on request. */
export function commandAsTest(command: readonly string[], env: NodeJS.ProcessEnv, shows: boolean): RunTest {
  const [program = '', ...words] = command
  return (exploration) =>
    new Promise((resolve, reject) => {
      const stdio = shows ? 'inherit' : 'ignore'
      const child = spawn(program, words, { env: { ...env, [explorationVariable]: exploration }, stdio })
      child.on('error', (cause) => reject(new SettingsError(`${program} cannot be run: ${cause.message}`)))
      child.on('close', (code) => resolve(code === 0))
    })
}
