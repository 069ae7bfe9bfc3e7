import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'

const folder = mkdtempSync(join(tmpdir(), 'check-package-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const types = 'export declare const one: number\n'
const sound = {
  'index.js': 'export const one = 1\n',
  'index.d.ts': types,
  'index.cjs': 'exports.one = 1\n',
  'index.d.cts': types,
}
const soundExports = {
  import: { types: './index.d.ts', default: './index.js' },
  require: { types: './index.d.cts', default: './index.cjs' },
}

function manifest(exports, more = {}) {
  return JSON.stringify({ name: 'sound', version: '1.0.0', license: 'MIT', type: 'module', engines: { node: '>=22' }, exports, ...more })
}

/** Runs the check on a package of these files. */
function check(name, files) {
  const written = join(folder, name)
  mkdirSync(written)
  for (const [file, content] of Object.entries(files)) writeFileSync(join(written, file), content)
  const program = fileURLToPath(new URL('check-package.mjs', import.meta.url))
  return spawnSync(process.execPath, [program, written], { encoding: 'utf8' })
}

test('a package without faults passes', () => {
  const { status, stdout, stderr } = check('sound', { ...sound, 'package.json': manifest({ '.': soundExports }) })
  expect({ status, stdout, stderr }).toEqual({
    status: 0,
    stdout: 'publint, are-the-types-wrong and npm publish find nothing in the packed package.\n',
    stderr: '',
  })
})

test('a missing entry file, types of another module system than the code, and a command that npm would leave out are each found by a tool', () => {
  const require = { types: './index.d.ts', default: './index.cjs' }
  const exports = { '.': { ...soundExports, require }, './package.json': './other.json' }
  const files = { ...sound, 'command.js': '#!/usr/bin/env node\n', 'package.json': manifest(exports, { bin: { sound: './command.js' } }) }
  const { status, stderr } = check('faults', files)
  expect(stderr).toMatch(/^the packed package: publint: .*\.\/other\.json but the file does not exist/m)
  expect(stderr).toMatch(/^the packed package: are-the-types-wrong: FalseESM: .*index\.d\.ts/m)
  expect(stderr).toMatch(/^the packed package: npm publish: .*bin/m)
  expect(status).toBe(1)
})

test('a package without types is found by are-the-types-wrong', () => {
  const { 'index.d.ts': _module, 'index.d.cts': _require, ...untyped } = sound
  const exports = { '.': { import: './index.js', require: './index.cjs' } }
  const { status, stderr } = check('no-types', { ...untyped, 'package.json': manifest(exports) })
  expect(stderr).toBe('the packed package: are-the-types-wrong: NoTypes\n')
  expect(status).toBe(1)
})
