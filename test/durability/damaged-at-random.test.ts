import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { aFolder } from '@orch/testkit/folder'
import { expect, test } from 'vitest'

test('WATCH-15: damage at random places is refused, has no effect or affects only the past, which is compacted, and never crashes the process', () => {
  const folder = aFolder()
  const script = fileURLToPath(new URL('./damage-store.ts', import.meta.url))
  const words = ['--conditions=source', '--no-warnings', script, folder, '1', '210']
  const { status, signal, stdout, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8' })
  expect({ status, signal, stderr }).toEqual({ status: 0, signal: null, stderr: '' })
  const outcomes = stdout.trim().split('\n')
  expect(outcomes.filter((outcome) => !/^(refused|same|forgotten|ended): /.test(outcome))).toEqual([])
  expect(outcomes.filter((outcome) => outcome.startsWith('refused')).length).toBeGreaterThan(100)
  expect(outcomes.filter((outcome) => outcome.startsWith('forgotten')).length).toBeGreaterThan(10)
})
