import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { isTuned, withHeapFlags, youngHeapFlags } from './v8.ts'

test('a server process has a larger old heap, unless the caller has chosen the size', () => {
  expect(withHeapFlags(['--max-semi-space-size=16'], {})).toEqual(['--max-semi-space-size=16', '--initial-old-space-size=200'])
  expect(withHeapFlags(['--initial-old-space-size=50'], {})).toEqual(['--initial-old-space-size=50'])
  expect(withHeapFlags(['--initial_old_space_size=50'], {})).toEqual(['--initial_old_space_size=50'])
})

test('ORCH_V8_FLAGS=default leaves the V8 flags of Node unchanged', () => {
  const env = { ORCH_V8_FLAGS: 'default' }
  expect([isTuned(env), isTuned({})]).toEqual([false, true])
  expect(withHeapFlags(['--max-semi-space-size=16'], env)).toEqual(['--max-semi-space-size=16'])
})

test('every program that starts a server gives Node the flags for the young heap', () => {
  const textOf = (path: string) => readFileSync(fileURLToPath(new URL(`../../../../${path}`, import.meta.url)), 'utf8')
  const listed = youngHeapFlags.map((flag) => `'${flag}'`).join(', ')
  expect(textOf('services/orch/src/main.ts')).toMatch(`#!/usr/bin/env -S node ${youngHeapFlags.join(' ')}\n`)
  for (const path of ['scripts/run.mjs', 'services/orch/package/bin.cjs']) expect(textOf(path)).toContain(listed)
})
