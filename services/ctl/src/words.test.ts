import { expect, test } from 'vitest'
import { readWords, wordFirst } from './words.ts'

const flags = {
  namespace: { short: 'n', word: 'name', doc: '' },
  filename: { short: 'f', word: 'path', isList: true, doc: '' },
  all: { short: 'A', word: '', doc: '' },
  type: { word: 'merge|json|strategic', doc: '' },
  count: { word: 'int', doc: '' },
} as const

test.each([
  [['get', '-n', 'a', 'pods'], { namespace: 'a' }, ['get', 'pods']],
  [['-na', '--all'], { namespace: 'a', all: true }, []],
  [['--namespace=a', '--all=false', '-A=true'], { namespace: 'a', all: true }, []],
  [['-f', 'a,b', '-f', 'c', '-'], { filename: ['a', 'b', 'c'] }, ['-']],
  [['--', '--all'], {}, ['--all']],
  [['--type=json', '--count', '-1'], { type: 'json', count: '-1' }, []],
] as const)('the words %j are parsed', (words, values, rest) => {
  expect(readWords(flags, words)).toEqual({
    flags: { namespace: undefined, filename: [], all: false, type: undefined, count: undefined, ...values },
    rest,
  })
})

test.each([
  [['--namespac=a'], 'unknown flag: --namespac; did you mean --namespace?'],
  [['-n'], 'flag needs an argument: -n'],
  [['--all=maybe'], '--all=maybe: must be true or false'],
  [['--type=x'], '--type=x: must be merge, json or strategic'],
  [['--count', 'x'], '--count=x: must be a whole number'],
  [['--count=1.5'], '--count=1.5: must be a whole number'],
])('%j is refused', (words, message) => {
  expect(() => readWords(flags, words)).toThrow(message)
})

test.each([
  ['get pods -n a', 'get pods -n a'],
  ['-n a get pods', 'get -n a pods'],
  ['--namespace=a -A get', 'get --namespace=a -A'],
  ['-na get', 'get -na'],
  ['-A', '-A'],
  ['--none get', '--none get'],
])('the command of `%s` is parsed like `%s`', (words, expected) => {
  expect(wordFirst(flags, words.split(' ')).join(' ')).toBe(expected)
})
