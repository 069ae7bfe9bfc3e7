import { homedir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readAssetsWords } from './assets-words.ts'

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
