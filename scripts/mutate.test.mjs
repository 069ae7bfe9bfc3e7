import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { tryChanges } from './mutate.mjs'

const root = join(import.meta.dirname, '..')

test('a change that no test notices is listed, and fails the run below the bound; a noticed one counts as killed', async () => {
  const folder = aFolder({
    'part/large.ts': 'export function isLarge(value: number): boolean {\n  return value > 100\n}\n',
    // No test decides the side of the bound for 100.
    'part/large.test.ts': `
      import { expect, test } from 'vitest'
      import { isLarge } from './large.ts'

      test('large', () => expect([101, 1].map(isLarge)).toEqual([true, false]))`,
  })
  const report = join(folder, 'report.json')
  const { code, words } = await tryChanges({
    node: process.execPath,
    folder,
    mutate: ['part/*.ts'],
    tests: ['part/*.test.ts'],
    report,
    // Two processes would both load the test runner, for five changes.
    concurrency: 1,
    stdio: 'ignore',
  })
  expect(words.split('\n')).toEqual([
    'survived part/large.ts:2:10 EqualityOperator',
    '    return value > 100',
    '    → value >= 100',
    `the report is in ${report}`,
    '4 of 5 mutants killed, 0 of them by time: 80 %',
    '',
  ])
  expect(code).toBe(1)
})

/** A folder with these files, and the necessary parts of the working tree. */
function aFolder(files) {
  const folder = mkdtempSync(join(tmpdir(), 'mutate-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  for (const name of ['.cache', 'node_modules', 'scripts', 'shared', 'test', 'vitest.config.ts', 'vitest.mutation.config.ts']) {
    symlinkSync(join(root, name), join(folder, name))
  }
  mkdirSync(join(folder, 'part'))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  return folder
}
