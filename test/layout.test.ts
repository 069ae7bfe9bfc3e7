import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '..')
const packagesIn = (folder: string) =>
  readdirSync(join(root, folder)).filter((name) => existsSync(join(root, folder, name, 'package.json')))
const packages = ['services', 'shared'].flatMap((folder) => packagesIn(folder).map((name) => join(folder, name)))
const readJson = (path: string) => JSON.parse(readFileSync(join(root, path), 'utf8'))

test('CARD-01, CARD-02: one repository in TypeScript, whose scripts build and test it', () => {
  expect(readJson('package.json').scripts).toMatchObject({ start: expect.any(String), test: expect.any(String) })
  expect(readJson('package.json').devDependencies).toHaveProperty('typescript')
})

test('CARD-03: the workspace lists the packages', () => {
  const text = readFileSync(join(root, 'pnpm-workspace.yaml'), 'utf8')
  expect(text).toContain('- shared/*')
  expect(text).toContain('- services/*')
})

test('CARD-04: every package extends one configuration of the compiler', () => {
  for (const path of packages) expect(readJson(join(path, 'tsconfig.json')).extends).toBe('../../tsconfig.base.json')
})

test('CARD-05, CARD-15: each service is a package of its own', () => {
  expect(packagesIn('services')).toEqual(['admission', 'controllers', 'gateway', 'orch', 'storage', 'watch'])
})

test('CARD-06: what several services use is shared', () => {
  expect(packagesIn('shared')).toEqual(['client', 'core', 'platform', 'testkit'])
})

test('CARD-08: tests of the whole stand in a folder of their own', () => {
  expect(readdirSync(join(root, 'test'))).toContain('e2e')
})

test('CARD-09, CARD-20: the gateway serves with hono, and pino writes the logs', () => {
  expect(readJson('services/gateway/package.json').dependencies).toHaveProperty('hono')
  expect(readJson('shared/platform/package.json').dependencies).toHaveProperty('pino')
})
