import { eachSetting } from '@orch/platform'
import { expect, test } from 'vitest'
import { flagsWithoutObject } from './flags.ts'
import { printFlagClassesPage } from './help.ts'
import { apiServerSettings } from './settings.ts'

test('the page of flags in the documentation is current', async () => {
  await expect(printFlagClassesPage()).toMatchFileSnapshot('../../../../docs/reference/envtest-flags.md')
})

test('no flag is both honoured and without effect', () => {
  const honoured = eachSetting(apiServerSettings).map(({ flag }) => flag)
  expect(honoured.filter((flag) => flagsWithoutObject.has(flag))).toEqual([])
})
