import { mkdirSync, writeFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { expect, test } from 'vitest'
import { anApi } from '../api/api.ts'
import { readCases } from './cases.ts'
import { knownDifferences } from './known-differences.ts'
import { type Outcome, replay } from './replay.ts'

test('requests recorded with kube-apiserver 1.25 have the same answers, but for those listed with a reason', async () => {
  const api = await anApi({ profile: 'kubernetes', controllers: ['*'], serviceClusterIpRange: '10.96.0.0/16' })
  const outcomes = await replay(api, readCases())
  const differing = outcomes.filter(({ recorded, ours }) => !isDeepStrictEqual(recorded, ours))
  write(differing)
  const listed = knownDifferences.flatMap(({ cases }) => cases)
  const names = differing.map(({ name }) => name)
  expect(
    differing.filter(({ name }) => !listed.includes(name)),
    'not listed',
  ).toEqual([])
  expect(
    listed.filter((name) => !names.includes(name)),
    'listed, but the same now',
  ).toEqual([])
}, 120_000)

/** Both sides of each difference, for a reader with diff. */
function write(differing: readonly Outcome[]): void {
  const folder = process.env.ORCH_RECORDED_DIFF
  if (folder === undefined) return
  mkdirSync(folder, { recursive: true })
  writeFileSync(`${folder}/differing.json`, JSON.stringify(differing, undefined, 1))
}
