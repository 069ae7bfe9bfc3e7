import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { pluginOrder } from '../services/admission/src/index.ts'

const root = join(import.meta.dirname, '..')
const packagesIn = (folder: string) =>
  readdirSync(join(root, folder)).filter((name) => existsSync(join(root, folder, name, 'package.json')))
const packages = ['services', 'shared'].flatMap((folder) => packagesIn(folder).map((name) => join(folder, name)))
const readJson = (path: string) => JSON.parse(readFileSync(join(root, path), 'utf8'))

test('CARD-01, CARD-02: the repository is in TypeScript, and its scripts build and test it', () => {
  expect(readJson('package.json').scripts).toMatchObject({ start: expect.any(String), test: expect.any(String) })
  expect(readJson('package.json').devDependencies).toHaveProperty('typescript')
})

test('CARD-03: the workspace lists the packages', () => {
  const text = readFileSync(join(root, 'pnpm-workspace.yaml'), 'utf8')
  expect(text).toContain('- shared/*')
  expect(text).toContain('- services/*')
})

test('CARD-04: every package extends one compiler configuration', () => {
  for (const path of packages) expect(readJson(join(path, 'tsconfig.json')).extends).toBe('../../tsconfig.base.json')
})

test('CARD-05, CARD-15: each service is a separate package', () => {
  expect(packagesIn('services')).toEqual(['admission', 'controllers', 'ctl', 'gateway', 'nodes', 'orch', 'storage', 'watch'])
})

test('CARD-06: code of several services is in shared packages', () => {
  expect(packagesIn('shared')).toEqual(['cel', 'client', 'core', 'platform', 'testkit'])
})

const sourcesIn = (folder: string) =>
  readdirSync(join(root, folder, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .map((name) => readFileSync(join(root, folder, 'src', name), 'utf8'))
/** The packages whose code imports a library. */
const usersOf = (library: string) =>
  packages.filter((path) => sourcesIn(path).some((text) => new RegExp(`(?:from|import\\() ?'${library}'`).test(text)))

test('CARD-13: no service depends on another, and services call each other over gRPC', () => {
  const services = packagesIn('services').filter((name) => name !== 'orch')
  for (const service of services) {
    const used = Object.keys(readJson(join('services', service, 'package.json')).dependencies)
    expect(used.filter((name) => services.includes(name.replace('@orch/', '')))).toEqual([])
  }
  expect(usersOf('@grpc/grpc-js')).toContain('shared/platform')
})

test('CARD-14: only storage connects to the store, through etcd3', () => {
  expect(usersOf('etcd3')).toEqual(['services/storage'])
})

test('CARD-15, CARD-16: the service that runs the plugins calls webhooks', () => {
  const webhooks = ['MutatingAdmissionWebhook', 'ValidatingAdmissionWebhook']
  expect(pluginOrder).toEqual(expect.arrayContaining(['NamespaceLifecycle', 'LimitRanger', 'ResourceQuota', ...webhooks]))
  const askers = packages.filter((path) => sourcesIn(path).some((text) => text.includes("kind: 'AdmissionReview'")))
  expect(askers).toEqual(['services/admission'])
})

test('CARD-19: only jose signs and verifies tokens', () => {
  expect(usersOf('jose')).toEqual(['services/controllers', 'services/gateway'])
  const libraries = packages.flatMap((path) => Object.keys(readJson(join(path, 'package.json')).dependencies ?? {}))
  expect([...new Set(libraries.filter((name) => /jwt|jws|jose/.test(name)))]).toEqual(['jose'])
})

test('CARD-08: tests of the whole are in a separate folder', () => {
  expect(readdirSync(join(root, 'test'))).toContain('e2e')
})

test('CARD-09, CARD-20: the gateway serves with hono, and pino writes the logs', () => {
  expect(readJson('services/gateway/package.json').dependencies).toHaveProperty('hono')
  expect(readJson('shared/platform/package.json').dependencies).toHaveProperty('pino')
})
