import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { isNewEnough, nodePackageOf } from './bootstrap.mjs'
import { root } from './root.mjs'

const read = (file) => readFileSync(join(root, file), 'utf8')
const bin = read('services/orch/package/bin.cjs')
const { isNewEnough: isNewEnoughForPackage } = createRequire(import.meta.url)('../services/orch/package/node-version.cjs')

test('the package fetches the same Node version as the project', () => {
  const nodes = Object.entries(JSON.parse(read('package.json')).optionalDependencies).filter(([name]) => /^node-/.test(name))
  expect(nodes.length).toBeGreaterThan(0)
  const fetched = /^const nodeVersion = '(.+)'$/m.exec(bin)?.[1]
  for (const [name, version] of nodes) expect(`${name} ${version}`).toBe(`${name} ${fetched}`)
})

test.each([
  ['18.20.8', false],
  ['20.19.0', false],
  ['22.18.9', false],
  ['22.19.0', true],
  ['22.30.1', true],
  ['23.11.0', false],
  ['24.0.0', true],
  ['25.9.0', false],
  ['26.0.0', true],
  ['27.1.0', true],
])('Node %s is new enough for the project and the package: %s', (version, expected) => {
  expect(isNewEnough(version)).toBe(expected)
  expect(isNewEnoughForPackage(version)).toBe(expected)
})

test('the package declares the rule that it checks', () => {
  expect(/engines: \{ node: '(.+)' \}/.exec(read('scripts/package.mjs'))?.[1]).toBe('^22.19.0 || ^24.0.0 || >=26.0.0')
})

test.each([
  ['linux', 'x64'],
  ['linux', 'arm64'],
  ['darwin', 'x64'],
  ['darwin', 'arm64'],
])('on %s %s the project and the package fetch a Node of the lockfile', (platform, arch) => {
  const name = nodePackageOf(`${platform}-${arch}`)
  const { optionalDependencies } = JSON.parse(read('package.json'))
  expect(Object.keys(optionalDependencies)).toContain(name)
  expect(read('pnpm-lock.yaml')).toContain(`\n  ${name}@${optionalDependencies[name]}:\n`)
  const folder = mkdtempSync(join(tmpdir(), 'platform-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const machine = join(folder, 'machine.cjs')
  writeFileSync(
    machine,
    `Object.defineProperty(process.versions, 'node', { value: '18.0.0' })
     Object.defineProperty(process, 'platform', { value: '${platform}' })
     Object.defineProperty(process, 'arch', { value: '${arch}' })
     require('child_process').spawnSync = (program, words) => { console.log([program, ...words].join(' ')); return { status: 1 } }`,
  )
  const { stdout } = spawnSync(process.execPath, ['--require', machine, join(root, 'services/orch/package/bin.cjs')], { encoding: 'utf8' })
  expect(stdout).toContain(`npm exec --yes --loglevel=error --package=${name}@${optionalDependencies[name]} -- node -p process.execPath`)
})

test.each(['bin.cjs', 'orchctl.cjs'])('%s starts with an env without flags, as in Alpine', (name) => {
  expect(read(`services/orch/package/${name}`).split('\n')[0]).toBe('#!/usr/bin/env node')
})
