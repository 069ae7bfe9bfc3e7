import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadYaml } from '@kubernetes/client-node'
import { expect, test } from 'vitest'
import { deployFolder } from './manifests.ts'

type Versions = Readonly<Record<string, string>>

/** The tested members of pnpm's lockfile. */
interface Lockfile {
  readonly importers: Readonly<Record<string, { readonly dependencies?: Readonly<Record<string, { readonly version: string }>> }>>
  readonly snapshots: Readonly<Record<string, { readonly dependencies?: Versions; readonly optionalDependencies?: Versions } | null>>
}

const root = join(deployFolder, '..')
const lockfile = loadYaml<Lockfile>(readFileSync(join(root, 'pnpm-lock.yaml'), 'utf8'))

/** All that a package of the workspace needs to run: folders of the workspace, and `name@version` of others. */
function needsOf(folder: string): Set<string> {
  const needs = new Set<string>()
  const add = (key: string, further: () => void) => {
    if (needs.has(key)) return
    needs.add(key)
    further()
  }
  const visitPackage = (key: string) =>
    add(key, () => {
      const { dependencies = {}, optionalDependencies = {} } = lockfile.snapshots[key] ?? {}
      for (const [name, version] of Object.entries({ ...dependencies, ...optionalDependencies })) {
        visitPackage(version in lockfile.snapshots ? version : `${name}@${version}`)
      }
    })
  const visitFolder = (path: string) =>
    add(path, () => {
      for (const [name, { version }] of Object.entries(lockfile.importers[path]?.dependencies ?? {})) {
        if (version.startsWith('link:')) visitFolder(join(path, version.slice('link:'.length)))
        else visitPackage(`${name}@${version}`)
      }
    })
  visitFolder(folder)
  return needs
}

test('production packages need nothing that only tests need', () => {
  const needs = [...needsOf('services/orch')]
  expect(needs).toEqual(expect.arrayContaining(['services/gateway', 'shared/core', expect.stringMatching(/^lmdb@/)]))
  expect(needs.filter((name) => /^(shared\/testkit|@?vitest|vite@|fast-check|esbuild|typescript)/.test(name))).toEqual([])
  expect([...needsOf('shared/testkit')].filter((name) => name.startsWith('vitest@'))).toHaveLength(1)
})

test('the image installs the server and its dependencies, without unused ones', () => {
  const text = readFileSync(join(deployFolder, 'Dockerfile'), 'utf8').replaceAll('\\\n', ' ')
  const installs = [...text.matchAll(/pnpm [^&\n]*?\binstall\b[^&\n]*/g)].map(([command]) => command.trim().replaceAll(/ +/g, ' '))
  const copied = text.indexOf('cp -r node_modules')
  expect(installs).toEqual(['pnpm install --frozen-lockfile', 'pnpm --filter orch... install --frozen-lockfile --prod'])
  expect(text.lastIndexOf('pnpm --filter')).toBeLessThan(copied)
  expect(text.slice(0, text.lastIndexOf('pnpm --filter'))).toContain('find . -name node_modules -type d -prune -exec rm -rf {} +')
})
