import { homedir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { asksForNewest, readAssetsWords, selectsVersion } from './assets-words.ts'

test.each([
  ['linux', 'x64', 'amd64', '.local/share/kubebuilder-envtest'],
  ['linux', 'arm64', 'arm64', '.local/share/kubebuilder-envtest'],
  ['darwin', 'x64', 'amd64', 'Library/Application Support/io.kubebuilder.envtest'],
  ['darwin', 'arm64', 'arm64', 'Library/Application Support/io.kubebuilder.envtest'],
])('on %s %s assets are for %s, in the folder of setup-envtest', (platform, arch, expected, folder) => {
  const words = readAssetsWords(['use'], {}, { platform, arch })
  expect(words).toMatchObject({ os: platform, arch: expected, binDir: join(homedir(), folder) })
})

test('XDG_DATA_HOME names the folder on Linux, and not on macOS', () => {
  const env = { XDG_DATA_HOME: '/data' }
  expect(readAssetsWords(['use'], env, { platform: 'linux', arch: 'x64' }).binDir).toBe('/data/kubebuilder-envtest')
  expect(readAssetsWords(['use'], env, { platform: 'darwin', arch: 'x64' }).binDir).not.toContain('/data/')
})

test.each([
  ['1.31.x', '1.31.0', true],
  ['1.31', '1.32.0', false],
  // All patches of a release match.
  ['1.31.4', '1.31.0', true],
  ['~1.31.4', '1.31.0', true],
  ['~1.31.4', '1.32.0', false],
  ['<1.31', '1.30.0', true],
  ['<1.31', '1.31.0', false],
  ['<=1.31.2', '1.31.0', true],
  ['<=1.31', '1.31.0', true],
  ['<=1.31.x', '1.31.0', true],
  ['<=1.31', '1.32.0', false],
  ['<=1.31.2', '1.32.0', false],
  ['v1.31.0!', '1.31.0', true],
  ['v1.37.2', '1.37.0', true],
  ['1.37.x!', '1.37.0', true],
  ['<1.38', '1.37.0', true],
  ['latest', '1.37.0', true],
  ['latest-on-disk', '1.37.0', true],
  ['1.38.0', '1.37.0', false],
  ['1.38', '1.37.0', false],
  ['1.24.x', '1.25.0', false],
  ['<1.25', '1.25.0', false],
  ['~1.24.0', '1.25.0', false],
  ['', '1.25.0', true],
])('the selector %j selects the version %s: %j', (selector, version, isSelected) => {
  expect(selectsVersion(selector, version)).toBe(isSelected)
})

test('latest, no selector, and a final ! mean the newest of all versions', () => {
  expect(['', 'latest', '<1.31!'].map(asksForNewest)).toEqual([true, true, true])
  expect(['1.31.x', 'latest-on-disk'].map(asksForNewest)).toEqual([false, false])
})
