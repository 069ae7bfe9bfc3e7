import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')
const page = readFileSync(join(root, 'docs/explanation/security.md'), 'utf8')

/** The test file of every attack, and the words that find the attack in the file. */
const named = page
  .split('\n')
  .filter((line) => line.startsWith('| ') && /\.(?:test|chaos)\.ts`/.test(line))
  .flatMap((line) => {
    const [, attack = '', , tests = ''] = line.split(/ ?\| /)
    return [...tests.matchAll(/`([\w./-]+\.(?:test|chaos)\.ts)`(?:: (\*[^*]+\*|[A-Z]+-[A-Z0-9-]+(?:, [A-Z]+-[A-Z0-9-]+)*))?/g)].map(
      ([, file = '', words = '']) => ({ attack, file, words: words.startsWith('*') ? [words.slice(1, -1)] : words.split(', ') }),
    )
  })

describe('the page on security', () => {
  test.each(named)('names a test of: $attack ($file)', ({ file, words }) => {
    expect(existsSync(join(root, file))).toBe(true)
    const text = readFileSync(join(root, file), 'utf8')
    for (const word of words) expect(text).toContain(word)
  })

  test('names a test for every attack', () => {
    const rows = page.slice(0, page.indexOf('## How long')).split('\n')
    const attacks = rows.filter((line) => line.startsWith('| ') && !line.startsWith('| attack'))
    expect(new Set(named.map(({ attack }) => attack)).size).toBe(attacks.length)
    expect(attacks.length).toBeGreaterThan(30)
  })
})
