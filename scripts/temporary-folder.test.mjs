import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import setup, { removeLeftOvers } from './temporary-folder.mjs'

function aFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'temporary-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

test('what a run writes is gone when it ends', () => {
  const before = process.env.TMPDIR
  onTestFinished(() => {
    process.env.TMPDIR = before
  })
  const parent = aFolder()
  process.env.TMPDIR = parent
  const remove = setup()
  writeFileSync(join(mkdtempSync(join(tmpdir(), 'etcd-')), 'data'), 'some')
  expect(readdirSync(parent)).toEqual([`orch-tests-${process.pid}`])
  remove()
  expect([readdirSync(parent), process.env.TMPDIR]).toEqual([[], parent])
})

test('what a killed run left is removed by the next one, and nothing else', () => {
  const parent = aFolder()
  const { pid: gone } = spawnSync(process.execPath, ['-e', ''])
  const names = [`orch-tests-${gone}`, `orch-tests-${process.pid}`, 'orch-tests-of-mine', 'other']
  for (const name of names) mkdirSync(join(parent, name, 'deep'), { recursive: true })
  removeLeftOvers(parent)
  expect(names.filter((name) => existsSync(join(parent, name)))).toEqual(names.slice(1))
})
