import { expect, test } from 'vitest'
import { outputFolders, packageFolders, progressLine } from './bootstrap.mjs'

test('a start waits for the build of the server, and not for the dependencies of tests', () => {
  const expected = packageFolders().filter((folder) => !['console', 'shared/testkit'].includes(folder))
  expect(outputFolders('services/orch').sort()).toEqual(expected.map((folder) => `${folder}/dist`).sort())
})

test('setting up everything installs all packages', () => {
  expect(outputFolders('.').sort()).toEqual(
    packageFolders()
      .map((folder) => `${folder}/dist`)
      .sort(),
  )
})

test('progress shows the time, and how many packages pnpm has installed', () => {
  expect(progressLine('compiling', '5 s', '')).toBe('compiling: 5 s')
  const output = 'Progress: resolved 1, reused 0\nsomething\nProgress: resolved 412, downloaded 120\n'
  expect(progressLine('installing', '10 s', output)).toBe('installing: 10 s, resolved 412, downloaded 120')
})
