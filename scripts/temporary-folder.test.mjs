import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import setup, { compileCache, removeLeftOvers } from './temporary-folder.mjs'

function aFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'temporary-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

test('the temporary files of a run are removed at its end', () => {
  const parent = aFolder()
  vi.stubEnv('TMPDIR', parent)
  vi.stubEnv('NODE_COMPILE_CACHE', undefined)
  onTestFinished(() => void vi.unstubAllEnvs())
  const remove = setup()
  writeFileSync(join(mkdtempSync(join(tmpdir(), 'etcd-')), 'data'), 'some')
  expect(readdirSync(parent)).toEqual([`orch-tests-${process.pid}`])
  remove()
  expect([readdirSync(parent), process.env.TMPDIR, process.env.NODE_COMPILE_CACHE]).toEqual([[], parent, undefined])
})

test('the processes of a run share one compile cache, which the next run finds', () => {
  vi.stubEnv('TMPDIR', aFolder())
  vi.stubEnv('NODE_COMPILE_CACHE', undefined)
  onTestFinished(() => void vi.unstubAllEnvs())
  const remove = setup()
  const { stdout } = spawnSync(process.execPath, ['-p', "require('node:module').getCompileCacheDir()"], { encoding: 'utf8' })
  remove()
  expect(stdout).toContain(compileCache())
})

test('a compile cache with too many entries is emptied, and a smaller cache stays', () => {
  const folder = aFolder()
  for (const name of ['a', 'b', 'c']) writeFileSync(join(folder, name), '')
  compileCache(folder, 3)
  expect(readdirSync(folder)).toHaveLength(3)
  compileCache(folder, 2)
  expect(existsSync(folder)).toBe(false)
})

test('the temporary files of a killed run are removed by the next run, and no other files are', () => {
  const parent = aFolder()
  const { pid: gone } = spawnSync(process.execPath, ['-e', ''])
  const names = [`orch-tests-${gone}`, `orch-tests-${process.pid}`, 'orch-tests-of-mine', 'other']
  for (const name of names) mkdirSync(join(parent, name, 'deep'), { recursive: true })
  removeLeftOvers(parent)
  expect(names.filter((name) => existsSync(join(parent, name)))).toEqual(names.slice(1))
})

test('a folder of a killed run that cannot be removed stays, and the other folders are removed', () => {
  const parent = aFolder()
  const [mounted, removed] = ['', ''].map(() => `orch-tests-${spawnSync(process.execPath, ['-e', '']).pid}`)
  for (const name of [mounted, removed]) mkdirSync(join(parent, name))
  const said = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  onTestFinished(() => said.mockRestore())
  removeLeftOvers(parent, (folder, options) => {
    if (folder.endsWith(mounted)) throw new Error('resource busy or locked')
    rmSync(folder, options)
  })
  expect(readdirSync(parent)).toEqual([mounted])
  expect(said.mock.calls.join('')).toBe(`${join(parent, mounted)} is left by an ended run and cannot be removed: resource busy or locked\n`)
})
