import { execFile } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, expect, test } from 'vitest'
import { type InstalledPackage, installPackage } from '../package/installed-package.ts'
import { findProgram } from '../programs.ts'

const run = promisify(execFile)
const root = new URL('../..', import.meta.url).pathname
const examples = join(root, 'examples')
const jest = join(root, '.cache/jest/node_modules/jest')

let installed: InstalledPackage

beforeAll(async () => {
  installed = await installPackage()
  const programs = join(installed.project, 'node_modules/.bin')
  mkdirSync(programs)
  symlinkSync(installed.bin, join(programs, 'orch'))
  symlinkSync(join(root, 'node_modules/vitest/vitest.mjs'), join(programs, 'vitest'))
  if (existsSync(jest)) symlinkSync(join(jest, 'bin/jest.js'), join(programs, 'jest'))
})

/** The commands of an example's README: the install commands and the run commands. */
function commandsOf(name: string): string[] {
  const text = readFileSync(join(examples, name, 'README.md'), 'utf8')
  return [...text.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, command = '']) => command.trim())
}

/** Copies an example next to the installed package. This replaces `npm install`. */
function copyExample(name: string): string {
  const folder = join(installed.project, 'examples', name)
  cpSync(join(examples, name), folder, { recursive: true, filter: (file) => basename(file) !== 'node_modules' })
  symlinkSync(join(installed.project, 'node_modules'), join(folder, 'node_modules'))
  return folder
}

/** Files and variables of a run beside those of the example. */
interface Additions {
  readonly files?: Readonly<Record<string, string>>
  readonly variables?: Readonly<Record<string, string>>
}

/** Runs the last command of the README and returns its output; rejects with the output if the command fails. */
async function runExample(name: string, { files = {}, variables = {} }: Additions = {}): Promise<string> {
  const [install, command = '', ...more] = commandsOf(name)
  expect({ install, more }).toEqual({ install: 'npm install', more: [] })
  const cwd = copyExample(name)
  for (const [file, text] of Object.entries(files)) writeFileSync(join(cwd, file), text)
  const PATH = [dirname(process.execPath), process.env['PATH']].join(delimiter)
  // Colours would split the words, and the inner run must not inherit the variables of this run, except the compile cache.
  const inherited = Object.entries(process.env).filter(
    ([key]) =>
      !/^(?:VITEST|JEST|NODE_(?!COMPILE_CACHE$)|TEST$|KUBECONFIG|ORCH_|FORCE_COLOR|npm_(?:lifecycle|package|config_local)|INIT_CWD)/.test(
        key,
      ),
  )
  const env = {
    ...Object.fromEntries(inherited),
    PATH,
    XDG_DATA_HOME: join(cwd, 'data'),
    NO_COLOR: '1',
    GOTOOLCHAIN: 'local',
    GOFLAGS: '',
    ...variables,
  }
  const { stdout, stderr } = await run('sh', ['-c', command], { cwd, env }).catch((error) => {
    throw new Error(`${command} in examples/${name}: ${error.message}\n${error.stdout}`)
  })
  return stdout + stderr
}

test('the example with vitest runs as its README says', async () => {
  expect(await runExample('vitest')).toMatch(/Tests +5 passed \(5\)/)
})

test('the example with jest runs as its README says, and concurrent tests that fail leave traces with their names', async (context) => {
  if (!existsSync(jest)) return context.skip('no jest in .cache/jest')
  const failing = `const inFork = require('orch/jest').useForks({ profile: 'kubernetes' })
     for (const name of ['a', 'b']) test.concurrent.failing(name, inFork(() => { throw new Error(name) }))`
  const additions = { files: { 'failing.test.js': failing }, variables: { ORCH_TRACE: 'traces' } }
  expect(await runExample('jest', additions)).toContain('Tests:       8 passed, 8 total')
  const traces = readdirSync(join(installed.project, 'examples/jest/traces'))
  expect(traces.map((file) => file.slice(0, 2)).sort()).toEqual(['a-', 'b-'])
})

test('the example in Go starts etcd and kube-apiserver from KUBEBUILDER_ASSETS, and runs as its README says', async (context) => {
  if (findProgram('go') === undefined) return context.skip('no go on the PATH')
  expect(await runExample('go')).toMatch(/^ok\s+example\.dev\/drop-in/m)
})

test('the example in Python runs as its README says', async (context) => {
  if (findProgram('python3') === undefined) return context.skip('no python3 on the PATH')
  expect(await runExample('python')).toMatch(/Ran 2 tests in .*\n\nOK\n/)
})

test('the controller with one dependency compiles with the generated types, and its tests run as its README says', async () => {
  expect(await runExample('controller')).toMatch(/pass 3\n/)
  const folder = join(installed.project, 'examples/controller')
  const types = await run(process.execPath, [installed.bin, 'types', 'widgets.yaml'], { cwd: folder })
  expect(types.stdout).toBe(readFileSync(join(folder, 'widgets.ts'), 'utf8'))
  const typescript = join(root, 'node_modules/typescript/bin/tsc')
  const { stdout } = await run(process.execPath, [typescript, '-p', folder]).catch((error) => ({ stdout: error.stdout }))
  expect(stdout).toBe('')
})

test('the control plane of two kinds compiles, and its tests run as its README says', async () => {
  expect(await runExample('control-plane')).toMatch(/Tests +3 passed \(3\)/)
  const folder = join(installed.project, 'examples/control-plane')
  const typescript = join(root, 'node_modules/typescript/bin/tsc')
  const { stdout } = await run(process.execPath, [typescript, '-p', folder]).catch((error) => ({ stdout: error.stdout }))
  expect(stdout).toBe('')
})

test('examples name the versions that the tests use, and the published name of the package', () => {
  const versions = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).devDependencies
  for (const name of ['vitest', 'jest', 'go', 'python', 'control-plane']) {
    const { orch, jest: jestVersion, ...others } = JSON.parse(readFileSync(join(examples, name, 'package.json'), 'utf8')).devDependencies
    expect(orch).toBe('file:../../services/orch/dist/package')
    expect(versions).toMatchObject(others)
    if (jestVersion !== undefined) expect(readFileSync(join(root, '.ci/run'), 'utf8')).toContain(`jest@${jestVersion}`)
  }
})
