import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { isNewEnough, root } from './bootstrap.mjs'

const read = (file) => readFileSync(join(root, file), 'utf8')
const bin = read('services/orch/package/bin.cjs')
const { isNewEnough: isNewEnoughForPackage } = createRequire(import.meta.url)('../services/orch/package/node-version.cjs')

test('the package fetches the Node that the project itself fetches', () => {
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
])('Node %s is new enough to the project and to the package: %s', (version, expected) => {
  expect(isNewEnough(version)).toBe(expected)
  expect(isNewEnoughForPackage(version)).toBe(expected)
})

test('the package declares the rule that it checks', () => {
  expect(/engines: \{ node: '(.+)' \}/.exec(read('scripts/package.mjs'))?.[1]).toBe('^22.19.0 || ^24.0.0 || >=26.0.0')
})
