import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { originOf, repositoryOf } from './repository.mjs'

const urlOf = (origin, env = {}) => repositoryOf({ manifest: undefined, env, origin })?.url

test.each([
  ['https://git.example.com/team/orch.git'],
  ['https://git.example.com/team/orch'],
  ['https://git.example.com/team/orch/'],
  ['https://user:secret@git.example.com/team/orch.git'],
  ['http://git.example.com/team/orch.git'],
  ['git://git.example.com/team/orch.git'],
  ['git@git.example.com:team/orch.git'],
  ['git.example.com:team/orch'],
  ['ssh://git@git.example.com:2222/team/orch.git'],
  ['git+ssh://git@git.example.com/team/orch.git'],
  ['git+https://git.example.com/team/orch.git'],
])('a clone of %s names its repository in the form of npm, without a secret', (origin) => {
  expect(urlOf(origin)).toBe('git+https://git.example.com/team/orch.git')
})

test('the port of an HTTPS address is kept', () => {
  expect(urlOf('https://git.example.com:8443/team/orch.git')).toBe('git+https://git.example.com:8443/team/orch.git')
})

test.each([
  [undefined],
  [''],
  ['/srv/git/orch.git'],
  ['../orch'],
  ['file:///srv/git/orch.git'],
  ['C:\\git\\orch'],
  ['https://localhost/team/orch.git'],
  ['https://127.0.0.1:3000/team/orch.git'],
  ['https://[::1]/team/orch.git'],
  ['git@gitserver:team/orch.git'],
  ['https://git.corp.internal/team/orch.git'],
  ['https://git.example.com/'],
])('a clone of %j names no repository', (origin) => {
  expect(urlOf(origin)).toBeUndefined()
})

test('the manifest takes precedence over the CI service, and the CI service over the clone', () => {
  const origin = 'https://git.example.com/mirror/orch.git'
  const github = { GITHUB_SERVER_URL: 'https://github.example.com', GITHUB_REPOSITORY: 'team/orch' }
  expect(urlOf(origin, github)).toBe('git+https://github.example.com/team/orch.git')
  expect(urlOf(origin, { GITHUB_REPOSITORY: 'team/orch' })).toBe('git+https://git.example.com/mirror/orch.git')
  expect(urlOf(origin, { CI_PROJECT_URL: 'https://gitlab.example.com/team/orch' })).toBe('git+https://gitlab.example.com/team/orch.git')
  const manifest = { type: 'git', url: 'git+https://example.org/orch.git' }
  expect(repositoryOf({ manifest, env: github, origin })).toBe(manifest)
  expect(repositoryOf({ manifest: undefined, env: {}, origin })).toMatchObject({ type: 'git', directory: 'services/orch' })
})

test('the origin of a folder comes from git, and is undefined without a clone', () => {
  const folder = mkdtempSync(join(tmpdir(), 'orch-origin-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const git = (...args) => spawnSync('git', args, { cwd: folder })
  git('init', '--quiet')
  expect(originOf(folder)).toBeUndefined()
  git('remote', 'add', 'origin', 'https://git.example.com/team/orch.git')
  expect(originOf(folder)).toBe('https://git.example.com/team/orch.git')
})
