import { expect, test } from 'vitest'
import { checkWords } from './check-words.mjs'

test.each([
  ['// Nobody asks.', 'nobody'],
  ['/** Held by somebody else. */', 'somebody'],
  ['// Whoever comes second waits.', 'whoever'],
  ["log.warn('the client is told twice')", 'is told'],
  ['It ends of its own accord.', 'of its own accord'],
  ['as the real server does', 'the real server'],
  ['a name that there is not', 'that there is not'],
])('the line %s is a violation that names its file, line, word and advice', (line, word) => {
  const [violation, ...others] = checkWords('a.ts', `const first = 1\n${line}`)
  expect(others).toEqual([])
  expect(violation?.toLowerCase()).toMatch(`a.ts:2: "${word}": `)
})

test('plain sentences, other words that contain these, and terminal output in a document are no violations', () => {
  expect(checkWords('a.ts', '// The caller receives the outcome; it was foretold by none.')).toEqual([])
  expect(checkWords('a.md', 'See:\n```console\nUser "nobody" set.\n```\nIt ends.')).toEqual([])
})
