import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { draw, intervalOf, strykerPlugins } from './mutation-sample.mjs'

const root = join(import.meta.dirname, '..')
const keys = Array.from({ length: 200 }, (_, index) => `/copy/file.ts:${index}`)

test('the same seed draws the same mutants in every copy, another seed draws others', () => {
  const drawn = draw(keys, { count: 20, seed: 1, root: '/copy' })
  expect(new Set(drawn).size).toBe(20)
  expect(draw(keys.toReversed(), { count: 20, seed: 1, root: '/copy' })).toEqual(drawn)
  const elsewhere = keys.map((key) => key.replace('/copy', '/elsewhere'))
  expect(draw(elsewhere, { count: 20, seed: 1, root: '/elsewhere' }).map((key) => key.replace('/elsewhere', '/copy'))).toEqual(drawn)
  expect(draw(keys, { count: 20, seed: 2, root: '/copy' })).not.toEqual(drawn)
})

test('a sample larger than the scope is the whole scope', () => {
  expect(draw(keys, { count: 1000, seed: 1 }).toSorted()).toEqual(keys.toSorted())
})

test.each([
  [85, 100, 0.767, 0.907],
  [40, 40, 0.912, 1],
  [0, 40, 0, 0.088],
])('the 95 % interval of %i killed of %i is %f to %f', (killed, drawn, low, high) => {
  const interval = intervalOf(killed, drawn)
  expect([interval.low, interval.high].map((share) => Number(share.toFixed(3)))).toEqual([low, high])
})

test('the drawn mutants of a scope are the only ones tested, also where several are at one place', () => {
  const folder = mkdtempSync(join(tmpdir(), 'mutation-sample-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  mkdirSync(join(folder, 'part'))
  writeFileSync(join(folder, 'package.json'), '{}')
  writeFileSync(join(folder, 'part/less.ts'), 'export const isLess = (a: number, b: number) => a < b && a !== 0\n')
  writeFileSync(join(folder, 'part/less.test.ts'), 'export const isTest = 1 < 2\n')
  const words = { mutate: ['part/*.ts', '!part/absent.ts'], excludedMutations: ['StringLiteral'], count: 3, seed: 7 }
  const { stdout } = spawnSync(process.execPath, [join(root, 'scripts/mutation-sample.mjs'), JSON.stringify(words)], {
    cwd: folder,
    encoding: 'utf8',
  })
  expect(stdout).toBe('drew 3 of 9 mutants with seed 7\n')
  const drawn = JSON.parse(readFileSync(join(folder, 'mutation-sample.json'), 'utf8'))
  expect(drawn.filter((key) => key.includes('less.test.ts'))).toEqual([])
  const mutants = drawn.map((key, index) => toMutant(key, `${index}`))
  const others = mutants.map((mutant, index) => ({ ...mutant, id: `other-${index}`, replacement: 'another' }))
  const [{ injectableClass: Checker }] = strykerPlugins
  const checker = new Checker(join(folder, 'mutation-sample.json'))
  checker.init()
  const answers = Object.entries(checker.check([...mutants, ...others]))
  expect(answers.filter(([, { status }]) => status === 'passed').map(([id]) => id)).toEqual(['0', '1', '2'])
  expect(answers).toHaveLength(6)
})

function toMutant(key, id) {
  const [, fileName, startLine, startColumn, endLine, endColumn, mutatorName, replacement] =
    /^(.*?):(\d+):(\d+):(\d+):(\d+):(\w+):(.*)$/s.exec(key)
  const at = (line, column) => ({ line: Number(line), column: Number(column) })
  return { id, fileName, location: { start: at(startLine, startColumn), end: at(endLine, endColumn) }, mutatorName, replacement }
}
