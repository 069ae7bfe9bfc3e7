import { execFile } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { installPackage } from './installed-package.ts'

const run = promisify(execFile)
const root = new URL('../..', import.meta.url).pathname
const typescript = join(root, 'node_modules/typescript/bin/tsc')

const { project, tarball, bin } = await installPackage()

/** Runs a program in the project with the tests' Node.js. */
async function runInProject(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string> {
  const { stdout } = await run(process.execPath, args, { cwd: project, env: { ...process.env, ...env } })
  return stdout
}

function write(file: string, text: string): string {
  mkdirSync(dirname(join(project, file)), { recursive: true })
  writeFileSync(join(project, file), text)
  return join(project, file)
}

test('import and require share one instance, which starts a server', async () => {
  const file = write(
    'both.mjs',
    `import { createRequire } from 'node:module'
     import { start } from 'orch'
     const required = createRequire(import.meta.url)('orch')
     const server = await start({ profile: 'kubernetes' })
     const created = await server.client.objects.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'first', namespace: 'default' } })
     await server.stop()
     console.log(JSON.stringify({ isSame: required.start === start, name: created.metadata.name }))`,
  )
  expect(JSON.parse(await runInProject([file]))).toEqual({ isSame: true, name: 'first' })
})

test('import exports all names that require exports', async () => {
  const file = write(
    'names.mjs',
    `import { createRequire } from 'node:module'
     const require = createRequire(import.meta.url)
     const names = async (name) => [Object.keys(await import(name)).sort(), Object.keys(require(name)).sort()]
     console.log(JSON.stringify([await names('orch'), await names('orch/controllers')]))`,
  )
  for (const [imported, required] of JSON.parse(await runInProject([file]))) expect(imported).toEqual(required)
})

test('a start in a test loads neither gRPC, etcd, NATS, OpenTelemetry nor lmdb, and its console with the first link', async () => {
  const file = write(
    'loaded.mjs',
    `import { start } from 'orch'
     import { createRequire } from 'node:module'
     const server = await start({ console: true })
     const consoleBefore = consoleParts.length
     await server.console()
     await server.stop()
     const loaded = Object.keys(createRequire(import.meta.url).cache)
     const others = loaded.filter((file) => !file.includes('/node_modules/orch/'))
     console.log(JSON.stringify({ others, consoleBefore, consoleAfter: consoleParts.length }))`,
  )
  const preload = write(
    'refuse.mjs',
    `import { registerHooks } from 'node:module'
     globalThis.consoleParts = []
     registerHooks({ resolve(specifier, context, next) {
       if (/grpc|etcd|nats|opentelemetry|lmdb/.test(specifier)) throw new Error('loaded ' + specifier)
       if (/\\/console-[^/]*$/.test(specifier)) consoleParts.push(specifier)
       return next(specifier, context)
     } })`,
  )
  expect(JSON.parse(await runInProject(['--import', preload, file]))).toEqual({ others: [], consoleBefore: 0, consoleAfter: 1 })
})

test('require works in test frameworks that replace process and require of modules', async () => {
  const file = write(
    'sandbox.cjs',
    `const vm = require('node:vm')
     const { readFileSync } = require('node:fs')
     const { dirname, join } = require('node:path')
     const inner = { ...process, getBuiltinModule: undefined }
     const load = (name) => {
       const file = name.startsWith('.') ? join(__dirname, 'node_modules/orch', name) : require.resolve(name)
       const module = { exports: {} }
       const source = '(function(module, require, process, __filename){' + readFileSync(file, 'utf8') + '\\n})'
       vm.runInNewContext(source, {})(module, load, inner, file)
       return module.exports
     }
     const { start } = load('orch')
     start().then(async (server) => { await server.stop(); console.log(start === require('orch').start) })`,
  )
  expect(await runInProject([file])).toBe('true\n')
})

test('the command prints its version, and the line for KUBECONFIG when a server starts', async () => {
  expect(await runInProject([bin, '--version'])).toContain('orch 0.1.0 (API level 1.37')
  const stop = write(
    'stop-at-once.mjs',
    "process.on('SIGTERM', () => {}); const wait = setInterval(() => { if (!global.ready) return; clearInterval(wait); process.kill(process.pid, 'SIGTERM') }, 20).unref()\nconst write = process.stdout.write.bind(process.stdout)\nprocess.stdout.write = (text, ...rest) => { if (String(text).includes('is ready')) global.ready = true; return write(text, ...rest) }",
  )
  const flags = ['--profile=kubernetes', '--memory', '--secure-port=0', `--data-dir=${join(project, 'data')}`]
  expect(await runInProject(['--import', stop, bin, 'up', ...flags])).toContain(`export KUBECONFIG=${join(project, 'data/admin.conf')}\n`)
})

test('the command prints the required version on an outdated Node, from a file that this Node can parse', async () => {
  const old = write(
    'old.cjs',
    "Object.defineProperty(process.versions, 'node', { value: '12.22.0' }); require('child_process').spawnSync = (...words) => { console.log(words[1].join(' ')); return { status: 1 } }",
  )
  const failed = await run(process.execPath, ['--require', old, bin, '--version'], { cwd: project }).catch((error) => error)
  expect(failed.stdout).toContain('--package=')
  expect(failed.stderr).toContain('orch: Node 22.19 or newer is needed, this is 12.22.0')
  expect(failed.stderr).toContain('install Node 22.19 or newer')
  expect(failed.code).toBe(1)
})

test.each([
  ['import', "import 'orch'"],
  ['require', "import { createRequire } from 'node:module'; createRequire(import.meta.url)('orch')"],
  ['import of the fixtures for vitest', "import 'orch/vitest/global-setup'"],
])('on an outdated Node %s names the required version before it loads newer syntax', async (_way, text) => {
  const old = write('old-version.cjs', "Object.defineProperty(process.versions, 'node', { value: '20.20.2' })")
  const load = write(
    'refuse-program.mjs',
    `import { registerHooks } from 'node:module'
     registerHooks({ resolve(specifier, context, next) {
       if (specifier.includes('/dist/')) throw new Error('loaded ' + specifier)
       return next(specifier, context)
     } })`,
  )
  const args = ['--require', old, '--import', load, write('needs.mjs', text)]
  const failed = await run(process.execPath, args, { cwd: project }).catch((error) => error)
  expect(failed.stderr).toContain('Error: orch needs Node 22.19, 24, 26 or newer, this is 20.20.2\n')
})

test('vitest: a fixture with the initial state for each test, useServer, and one server for a whole run work', async () => {
  write(
    'vitest.config.mjs',
    "export default { test: { globalSetup: ['orch/vitest/global-setup'], include: ['vitest/*.test.js'], testTimeout: 180_000, hookTimeout: 180_000 } }",
  )
  write(
    'vitest/a.test.js',
    `import { expect, test as plain } from 'vitest'
     import { test, testWith, useServer } from 'orch/vitest'
     const configMaps = (server) => server.client.resource({ group: '', version: 'v1', plural: 'configmaps', namespaced: true })
     test('creates', async ({ server }) => {
       await configMaps(server).create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'default' } })
       expect((await configMaps(server).list({ namespace: 'default' })).items.length).toBe(1)
     })
     test('is empty again', async ({ server }) => {
       expect((await configMaps(server).list({ namespace: 'default' })).items).toEqual([])
     })
     const first = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'first', namespace: 'default' } }
     const prepared = testWith({ profile: 'kubernetes' }, (base) => base.client.objects.create(first))
     const urls = new Set()
     for (const name of ['b', 'c']) prepared.concurrent('at a time ' + name, async ({ server }) => {
       urls.add(server.url)
       await configMaps(server).create({ ...first, metadata: { ...first.metadata, name } })
       expect((await configMaps(server).list({ namespace: 'default' })).items.map(({ metadata }) => metadata.name)).toEqual([name, 'first'])
     })
     test.fails('leaves a trace', async ({ server }) => {
       await server.client.objects.create(first)
       throw new Error('as expected')
     })
     const own = useServer({ profile: 'orch' })
     plain.fails('leaves a trace of the shared server', async () => {
       await own.client.objects.create({ ...first, metadata: { ...first.metadata, name: 'shared' } })
       throw new Error('as expected')
     })
     plain('has one of its own, and KUBECONFIG', () => {
       expect(own.url).toMatch(/^https:/)
       expect(process.env.KUBECONFIG).toMatch(/orch-kubeconfig-/)
     })`,
  )
  const results = join(project, 'results.json')
  const traces = join(project, 'traces')
  await runInProject([join(project, 'node_modules/vitest/vitest.mjs'), 'run', '--reporter=json', `--outputFile=${results}`], {
    ORCH_TRACE: traces,
  })
  expect(JSON.parse(readFileSync(results, 'utf8'))).toMatchObject({ numPassedTests: 7, numFailedTests: 0 })
  const [trace = '', ofShared = '', ...others] = readdirSync(traces).sort()
  expect(others).toEqual([])
  const shown = await runInProject([bin, 'trace', 'show', join(traces, trace)])
  expect(shown).toMatch(/leaves a trace\n.*as expected.*created ConfigMap default\/first/s)
  expect(await runInProject([bin, 'trace', 'show', join(traces, ofShared)])).toMatch(
    /leaves a trace of the shared server\n.*as expected.*created ConfigMap default\/shared/s,
  )
  await runInProject([bin, 'trace', 'show', join(traces, trace), '--html', 'trace.html'])
  expect(readFileSync(join(project, 'trace.html'), 'utf8')).toContain('http-equiv="Content-Security-Policy"')
})

test('node:test: a fork for each test, and a shared server work', async () => {
  const file = write(
    'node-test/a.test.mjs',
    `import assert from 'node:assert/strict'
     import { test } from 'node:test'
     import { useForks, useServer } from 'orch/node-test'
     const first = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'first', namespace: 'default' } }
     const inFork = useForks({ profile: 'kubernetes' }, (base) => base.client.objects.create(first))
     const own = useServer()
     for (const name of ['a', 'b']) test(name, inFork(async ({ client, url }) => {
       await client.objects.create({ ...first, metadata: { ...first.metadata, name } })
       const list = await client.resource({ group: '', version: 'v1', plural: 'configmaps', namespaced: true }).list({ namespace: 'default' })
       assert.deepEqual(list.items.map(({ metadata }) => metadata.name), [name, 'first'].sort())
       assert.notEqual(url, own.url)
     }))`,
  )
  expect(await runInProject(['--test', file])).toMatch(/pass 2\n.*fail 0\n/s)
  const failing = write(
    'node-test/b.test.mjs',
    `import { test } from 'node:test'
     import { useServer } from 'orch/node-test'
     const own = useServer()
     test('passes', () => own.client.objects.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'default' } }))
     test('leaves a trace', async () => {
       await own.client.objects.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'shared', namespace: 'default' } })
       throw new Error('as expected')
     })`,
  )
  const traces = join(project, 'node-traces')
  await expect(runInProject(['--test', failing], { ORCH_TRACE: traces })).rejects.toMatchObject({
    stdout: expect.stringMatching(/pass 1\n/),
  })
  const [trace = '', ...others] = readdirSync(traces)
  expect(others).toEqual([])
  expect(await runInProject([bin, 'trace', 'show', join(traces, trace)])).toMatch(
    /leaves a trace\n.*as expected.*created ConfigMap default\/shared/s,
  )
})

test('the types hold for modules, for require and for bundlers', async () => {
  write(
    'types/module.mts',
    `import { start, type RunningServer } from 'orch'
     const server: RunningServer = await start({ profile: 'kubernetes' })
     const { metadata } = await server.client.objects.get({ apiVersion: 'v1', kind: 'ConfigMap', name: 'x' })
     export const name: string | undefined = metadata.name
     // @ts-expect-error no such profile
     await start({ profile: 'x' })`,
  )
  write('types/require.cts', "import orch = require('orch')\nexport const server: Promise<orch.RunningServer> = orch.start()")
  write(
    'types/jest.cts',
    "import { useForks, useServer } from 'orch/jest'\nexport const url: string = useServer().url\nexport const inFork = useForks()\nexport const check = (one: jest.Matchers<void>): Promise<void> => one.toHaveNoLeaks()",
  )
  write(
    'types/vitest.mts',
    `import { expect } from 'vitest'
     import { matchers, useServer } from 'orch/vitest'
     expect.extend(matchers)
     export const check: Promise<void> = expect(useServer()).toHaveNoHotLoop({ for: '1s' })`,
  )
  write(
    'types/node-test.mts',
    "import { useForks } from 'orch/node-test'\nexport const test: () => Promise<void> = useForks()(({ url }) => url)",
  )
  write(
    'types/controllers.mts',
    "import { type Controller, done, reconciler } from 'orch/controllers'\nexport const idle: Controller<string> = reconciler('idle', () => ({ watches: [], reconcile: async () => done }))",
  )
  const flags = ['--noEmit', '--strict', '--target', 'es2024', '--lib', 'es2024,esnext.disposable', '--types', 'node']
  const files = [
    'types/module.mts',
    'types/require.cts',
    'types/jest.cts',
    'types/vitest.mts',
    'types/node-test.mts',
    'types/controllers.mts',
  ]
  await expect(runInProject([typescript, ...flags, '--module', 'nodenext', ...files])).resolves.toBe('')
  await expect(runInProject([typescript, ...flags, '--exactOptionalPropertyTypes', '--module', 'nodenext', ...files])).resolves.toBe('')
  await expect(
    runInProject([typescript, ...flags, '--skipLibCheck', '--module', 'esnext', '--moduleResolution', 'bundler', files[0] ?? '']),
  ).resolves.toBe('')
})

/** The bytes of a module and its imports, which Node.js loads before the module's first line runs. */
function bytesBefore(file: string, seen = new Set<string>()): number {
  if (seen.has(file)) return 0
  seen.add(file)
  const text = readFileSync(file, 'utf8')
  const imported = [...text.matchAll(/(?:\bfrom|\bimport)\s*"(\.\/[^"]+)"/g)].map(([, name = '']) => join(dirname(file), name))
  return imported.reduce((sum, other) => sum + bytesBefore(other, seen), text.length)
}

test.each(['main.js', 'api-server.js', 'etcd.js'])('%s begins with little code, which loads the compile cache first', (name) => {
  expect(bytesBefore(join(project, 'node_modules/orch/dist', name))).toBeLessThan(20_000)
})

test('the tarball is at most 3 MB, names no package of the workspace, and contains licences and a list of its components', () => {
  expect(statSync(tarball).size).toBeLessThan(3_000_000)
  const read = (file: string) => readFileSync(join(project, 'node_modules/orch', file), 'utf8')
  expect(read('package.json')).not.toContain('workspace:')
  expect(read('dist/index.d.ts')).not.toContain('@orch/')
  expect(read('THIRD-PARTY-LICENSES')).toContain('hono 4.')
  const names = JSON.parse(read('sbom.cdx.json')).components.map(({ name }: { name: string }) => name)
  expect(names).toEqual(expect.arrayContaining(['hono', 'lmdb', 'etcd3']))
  expect(createRequire(join(project, 'x.js')).resolve('orch/jest/global-setup')).toContain('jest-global-setup.cjs')
})
