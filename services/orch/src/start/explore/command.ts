import { SettingsError, settingsOf, settingTypes } from '@orch/platform'
import { shellQuote } from '../../process/shell-quote.ts'
import type { Terminal } from '../../process/terminal.ts'
import { generalSettings, readCommandSettings } from '../../settings/general.ts'
import { commandAsTest, explore, readSeeds } from './explore.ts'
import { explorationVariable } from './weather.ts'

const setting = settingsOf('Exploration')

/** The settings of `orch explore`. */
export const exploreSettings = {
  config: generalSettings.config,
  logFormat: generalSettings.logFormat,
  seeds: setting({ flag: '--seeds', type: settingTypes.string, default: '1..50' }, 'Seeds to try, such as 1..200, or one seed.'),
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
  const run = commandAsTest(command, terminal.env, values.verbose)
  if (!(await run(''))) {
    terminal.error('the test fails without weather; --verbose shows its output\n')
    return 1
  }
  const failure = await explore(seeds, run, (seed) => terminal.error(`seed ${seed}\n`))
  if (failure === undefined) {
    terminal.out(`the test passes under the seeds ${seeds.first} to ${seeds.last}\n`)
    return 0
  }
  const { seed, faults, exploration } = failure
  const lines = faults.length === 0 ? ['  no fault: the order of requests alone'] : faults.map((fault) => `  ${fault}`)
  const again = `${explorationVariable}=${exploration} ${command.map(shellQuote).join(' ')}`
  terminal.out([`the test fails under seed ${seed} with`, ...lines, 'It fails again with', `  ${again}`, ''].join('\n'))
  return 1
}
