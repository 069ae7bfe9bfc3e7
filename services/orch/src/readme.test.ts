import { readFileSync } from 'node:fs'
import { readSettings } from '@orch/platform'
import { expect, test } from 'vitest'
import { serverCommands } from './command-line.ts'
import { flagsElsewhere } from './settings/general.ts'

/** The shell commands in the code blocks of a page, each with its arguments. */
function commandsIn(text: string): string[][] {
  const blocks = [...text.matchAll(/^```sh\n(.*?)^```/gms)].map(([, block = '']) => block.replaceAll('\\\n', ''))
  const lines = blocks.flatMap((block) => block.split('\n'))
  return lines.flatMap((line) => {
    const found = /^(?:npm start -- |orch )(.*?)&?$/.exec(line)
    if (found === null) return []
    const words = (found[1] ?? '').trim().split(/\s+/)
    return [line.startsWith('npm') ? ['up', ...words] : words]
  })
}

const pages = ['README.md', 'docs/tutorials/services-apart.md'].map((page) =>
  readFileSync(new URL(`../../../${page}`, import.meta.url), 'utf8'),
)
const commands = pages.flatMap(commandsIn)

test('the README and the tutorial of separate services show each command', () => {
  expect(new Set(commands.map(([name]) => name))).toEqual(new Set(Object.keys(serverCommands)))
})

test.each(commands.map((words) => [words.join(' '), words]))(
  'the flags of the README and of the tutorial are valid: %s',
  async (_, words) => {
    const [name = '', ...flags] = words as string[]
    const settings = await serverCommands[name]!.settings()
    const { warnings } = readSettings(settings, { flags, env: {}, elsewhere: flagsElsewhere })
    expect(warnings).toEqual([])
  },
)
