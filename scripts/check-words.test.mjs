import { expect, test } from 'vitest'
import { checkWords, isChecked } from './check-words.mjs'

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

test.each([
  ['/** Whether the store is open. */', 'Whether'],
  ['  // What a client reads.', 'What'],
  ['/**\n * Where the files are.\n */', 'Where'],
  ['/** Those that wait. */', 'Those'],
  ['/** For whom a token is. */', 'For whom'],
  ['// So many requests pass.', 'So many'],
])('a comment that begins with a relative clause is a violation: %s', (comment, word) => {
  const line = comment.startsWith('/**\n') ? 3 : 2
  const advice = 'begin with the subject: True if, The place of, The rules that'
  expect(checkWords('a.ts', `const first = 1\n${comment}`)).toEqual([`a.ts:${line}: "${word}": ${advice}`])
})

test.each([
  "  doc: 'Whether the store is open.',",
  "  type: field(string(), { tag: 1, doc: 'What the condition is about.' }),",
  '  doc:\n    "Who holds the pod\'s lease.",',
])('a text that begins with a relative clause is a violation: %s', (text) => {
  expect(checkWords('shared/core/src/api/core-v1.ts', text)).toEqual([expect.stringContaining('begin with the subject')])
})

test('a title, a key and a list of words may begin with such a word', () => {
  for (const text of ["title: 'How to'", "verbs: { How: 'create' }", "step: 'When the pod ends, the job does.'"])
    expect(checkWords('a.ts', text)).toEqual([])
})

test('a later line of a comment, a longer word with the same beginning and a heading may begin with such a word', () => {
  expect(checkWords('a.ts', '// The store says\n// What it holds.')).toEqual([])
  expect(checkWords('a.ts', '/**\n * The store says\n * Where it is.\n */')).toEqual([])
  expect(checkWords('a.ts', '// However it ends, Whatever is read.')).toEqual([])
  expect(checkWords('a.md', '# What orch is')).toEqual([])
})

test('plain sentences, longer words that contain a forbidden word, and terminal output in a document are no violations', () => {
  expect(checkWords('a.ts', '// The caller receives the outcome; it was foretold by none.')).toEqual([])
  expect(checkWords('a.md', 'See:\n```console\nUser "nobody" set.\n```\nIt ends.')).toEqual([])
})

test.each([
  "test('RV-12: nobody is asked', () => {",
  "test.skipIf(isWindows)('nobody is asked', () => {",
  "])('nobody is asked: %s', (name) => {",
  "describe('nobody is asked', () => {",
  '// Nobody is asked.',
  'const first = 1 // of nobody',
])('in a test, titles and comments are checked: %s', (line) => {
  for (const file of ['services/a/src/a.test.ts', 'test/api/server.ts'])
    expect(checkWords(file, `const first = 1\n${line}`)).toEqual([expect.stringMatching(/:2: "nobody": /i)])
})

test('values in a test may contain forbidden words', () => {
  const lines = ["const user = 'nobody'", "  ['nobody', { name: 'nobody' }],", 'expect(text).toContain(\'User "nobody" not found\')']
  expect(checkWords('services/a/src/a.test.ts', lines.join('\n'))).toEqual([])
})

test('deployments are checked like code and documents; other YAML and the specification are not checked', () => {
  const line = '# The volume holds admin.conf for whoever administers.'
  for (const file of [
    'deploy/compose.yaml',
    'deploy/kustomize/base/gateway.yaml',
    'deploy/kustomize/nats/nats-server.conf',
    'deploy/certificates.sh',
  ]) {
    expect(isChecked(file)).toBe(true)
    expect(checkWords(file, line)).toEqual([`${file}:1: "whoever": name the subject: any client that, the caller`])
  }
  expect(['services/a/src/a.ts', 'scripts/a.mjs', 'README.md'].every(isChecked)).toBe(true)
  expect(['pnpm-lock.yaml', 'test/recorded/a.yaml', 'docs/reference/requirements.md'].some(isChecked)).toBe(false)
})
