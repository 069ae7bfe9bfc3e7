import { expect, test } from 'vitest'
import { checkPackage } from './check-imports.mjs'

const check = (name, folder, file, text, dependencies = []) =>
  checkPackage({ name, folder, dependencies, files: { [`${folder}/src/${file}`]: text } })
const gateway = (text, file = 'limits.ts') => check('@orch/gateway', 'services/gateway', file, text, ['hono', '@orch/core'])
const core = (text, file = 'a.ts') => check('@orch/core', 'shared/core', file, text)

test('allowed imports pass', () => {
  const text = [
    "import { a } from '@orch/core'",
    "import { Hono } from 'hono/tiny'",
    "import { b } from './b.ts'",
    "import { join } from 'node:path'",
  ]
  expect(gateway(text.join('\n'))).toEqual([])
})

test.each([
  ['a service imports another', gateway("import { open } from '@orch/storage'"), '@orch/gateway may not import @orch/storage'],
  [
    'a service’s test imports another',
    gateway("import { open } from '@orch/storage'", 'a.test.ts'),
    '@orch/gateway may not import @orch/storage',
  ],
  ['an import at run time', gateway("await import('@orch/watch')"), '@orch/gateway may not import @orch/watch'],
  ['a type import', gateway("import type { A } from '@orch/client'"), '@orch/gateway may not import @orch/client'],
  [
    'a path out of the package',
    gateway("import { a } from '../../storage/src/a.ts'"),
    '../../storage/src/a.ts leaves the package; import it by its name',
  ],
  ['what is not declared', gateway("import pino from 'pino'"), 'pino is not a dependency of @orch/gateway'],
  ['core and the world', core("import { readFileSync } from 'node:fs'"), '@orch/core is pure and may not import node:fs'],
  ['core and the world, without the prefix', core("import { readFileSync } from 'fs'"), '@orch/core is pure and may not import fs'],
  ['core and another package', core("import { a } from '@orch/platform'"), '@orch/core may not import @orch/platform'],
  ['a name of a profile', core("const group = 'apps.k8s.io'"), "k8s.io is spelled here; take it from the profile's names"],
])('%s is a violation', (_name, violations, message) => {
  expect(violations).toEqual([expect.objectContaining({ line: 1, message })])
})

test('a text that contains the word from is no import', () => {
  expect(core("rule(items, 'from', 'spec.ingress')")).toEqual([])
})

test('a violation names the line of the import', () => {
  expect(core("const a = 1\n\nconst b = 'kube-system'\n")).toMatchObject([{ file: 'shared/core/src/a.ts', line: 3 }])
})

test('product names are allowed in tests, comments, the table of names and the API description', () => {
  const text = "const group = 'apps.k8s.io'"
  expect(core(text, 'a.test.ts')).toEqual([])
  expect(core(`// ${text}`)).toEqual([])
  expect(core(text, 'names.ts')).toEqual([])
  expect(core(text, 'api/apps-v1.ts')).toEqual([])
})

/** Violations of a package that has these files. */
const among = (name, folder, sources) => {
  const files = Object.fromEntries(Object.entries(sources).map(([file, text]) => [`${folder}/src/${file}`, text]))
  return checkPackage({ name, folder, dependencies: [], files })
}

test.each([
  ['two files', { 'a.ts': "import { b } from './b.ts'", 'b.ts': "import { a } from './a.ts'" }, ['a.ts', 'b.ts']],
  ['types alone', { 'a.ts': "import type { B } from './b.ts'", 'b.ts': "import { type A } from './a.ts'" }, ['a.ts', 'b.ts']],
  ['an export', { 'a.ts': "export * from './b.ts'", 'b.ts': "import type { A } from './a.ts'" }, ['a.ts', 'b.ts']],
  ['an import at run time', { 'a.ts': "await import('./b.ts')", 'b.ts': "import type { A } from './a.ts'" }, ['a.ts', 'b.ts']],
  ['a file of itself', { 'a.ts': "import type { A } from './a.ts'" }, ['a.ts']],
  [
    'three files in two folders, beside one that only imports them',
    {
      'a.ts': "import type { B } from './n/b.ts'",
      'n/b.ts': "import type { C } from './c.ts'",
      'n/c.ts': "import type { A } from '../a.ts'",
      'z.ts': "import type { A } from './a.ts'",
    },
    ['a.ts', 'n/b.ts', 'n/c.ts'],
  ],
])('a circle of imports is a violation: %s', (_name, sources, circle) => {
  const paths = circle.map((file) => `shared/core/src/${file}`)
  const message = `${circle.length} files import each other in a circle: ${paths.join(', ')}`
  expect(among('@orch/core', 'shared/core', sources)).toEqual([{ file: paths[0], line: 1, message }])
})

test('files that share an import, and a test beside the file it tests, are no circle', () => {
  const shared = "import type { C } from './c.ts'"
  const sources = {
    'a.ts': `import type { B } from './b.ts'\n${shared}`,
    'b.ts': shared,
    'c.ts': '',
    'c.test.ts': "import { a } from './a.ts'",
  }
  expect(among('@orch/core', 'shared/core', sources)).toEqual([])
})

test.each([
  [
    'two folders whose files import each other in no circle',
    {
      'x/a.ts': "import type { B } from '../y/b.ts'",
      'y/b.ts': '',
      'y/c.ts': "\nimport type { D } from '../x/d.ts'",
      'x/d.ts': '',
      'z.ts': "import type { A } from './x/a.ts'",
    },
    ['x', 'y'],
    ['x → y (1)', 'y → x (1)'],
    '',
  ],
  [
    'a folder and a file beside it',
    { 'a.ts': "import { b } from './x/b.ts'", 'x/b.ts': '', 'x/c.ts': "import type { A } from '../a.ts'" },
    ['a.ts', 'x'],
    ['a.ts → x (1)', 'x → a.ts (1)'],
    '',
  ],
  [
    'folders within a folder, the pair with the fewest imports first',
    {
      'n/x/a.ts': "import { b } from '../y/b.ts'\nimport { c } from '../y/c.ts'",
      'n/y/b.ts': '',
      'n/y/c.ts': "import { d } from '../x/d.ts'",
      'n/x/d.ts': '',
    },
    ['x', 'y'],
    ['y → x (1)', 'x → y (2)'],
    '/n',
  ],
])('a circle of folders is a violation that lists its imports: %s', (_name, sources, circle, passages, within) => {
  const [violation, ...others] = among('@orch/storage', 'services/storage', sources)
  expect(others).toEqual([])
  expect(violation.message).toMatch(`folders of services/storage/src${within} import each other in a circle: ${circle.join(', ')}\n`)
  expect(violation.message.match(/\S+ → \S+ \(\d+\)/g)).toEqual(passages)
  expect(violation.message).toMatch(`${violation.file}:${violation.line} imports services/storage/src${within}/`)
})

test('folders that import from one another in one direction are no circle', () => {
  const sources = {
    'index.ts': "export * from './x/a.ts'",
    'x/a.ts': "import { b } from '../y/b.ts'\nimport { e } from './inner/e.ts'",
    'x/inner/e.ts': "import { c } from '../../y/c.ts'",
    'y/b.ts': "import { c } from './c.ts'",
    'y/c.ts': '',
    'y/c.test.ts': "import { a } from '../x/a.ts'",
  }
  expect(among('@orch/storage', 'services/storage', sources)).toEqual([])
})

test.each([
  ['request', 'request/body.ts', 'target', 'target/target.ts'],
  ['target', 'representations/table.ts', 'steps', 'steps/step.ts'],
  ['target', 'flow-control/match.ts', 'steps', 'steps/in-flight.ts'],
  ['steps', 'steps/step.ts', 'write', 'write/write.ts'],
  ['write', 'write/write.ts', 'verbs', 'verbs/verb.ts'],
  ['verbs', 'verbs/verb.ts', 'dispatch', 'dispatch.ts'],
  ['dispatch', 'routes/routes.ts', 'gateway', 'parts.ts'],
])('the floor %s of the gateway does not import from above: %s', (floor, file, above, target) => {
  const pathTo = (from, to) => `${'../'.repeat(from.split('/').length - 1) || './'}${to}`
  const violations = among('@orch/gateway', 'services/gateway', {
    [file]: `\nimport type { A } from '${pathTo(file, target)}'`,
    [target]: '',
  })
  const message = `the floor ${floor} may not import ${target} of the floor ${above} above it`
  expect(violations).toEqual([{ file: `services/gateway/src/${file}`, line: 2, message }])
  expect(among('@orch/gateway', 'services/gateway', { [file]: '', [target]: `import type { A } from '${pathTo(target, file)}'` })).toEqual(
    [],
  )
})

test('a file of the gateway without a floor is a violation', () => {
  const message = 'no floor of @orch/gateway lists this file; see scripts/gateway-floors.mjs'
  expect(gateway('', 'new.ts')).toEqual([{ file: 'services/gateway/src/new.ts', line: 1, message }])
})
