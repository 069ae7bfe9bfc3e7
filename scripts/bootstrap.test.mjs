import { expect, test } from 'vitest'
import { outputFolders, packageFolders, progressLine } from './bootstrap.mjs'

test('a start waits for the server’s build, and not for the tests’ dependencies', () => {
  const expected = packageFolders().filter((folder) => !['console', 'shared/testkit'].includes(folder))
  expect(outputFolders('services/orch').sort()).toEqual(expected.map((folder) => `${folder}/dist`).sort())
})

test('everything is all packages', () => {
  expect(outputFolders('.').sort()).toEqual(
    packageFolders()
      .map((folder) => `${folder}/dist`)
      .sort(),
  )
})

test('progress shows the time, and how far pnpm is', () => {
  expect(progressLine('compiling', '5 s', '')).toBe('compiling: 5 s')
  const output = 'Progress: resolved 1, reused 0\nsomething\nProgress: resolved 412, downloaded 120\n'
  expect(progressLine('installing', '10 s', output)).toBe('installing: 10 s, resolved 412, downloaded 120')
})
