import { eachSetting } from '@orch/platform'
import { expect, test } from 'vitest'
import { flagsElsewhere } from '../settings/general.ts'
import { apiServerSettings, flagsWithoutObject, printReleases } from './settings.ts'

/** The page of the documentation that lists every flag of kube-apiserver by its class. */
function printFlagClassesPage(): string {
  const cell = (flag: string) => `\`${flag}\`${printReleases(flag).replace(/^has it/, '')}`
  const honoured = eachSetting(apiServerSettings).map(({ flag, doc }) => `| ${cell(flag)} | ${doc.replaceAll('|', '\\|')} |\n`)
  const tuning = [...flagsWithoutObject.values()].map(({ flag, tunes }) => `| ${cell(flag)} | ${tunes} |\n`)
  const isTaken = (flag: string) => flagsWithoutObject.has(flag) || eachSetting(apiServerSettings).some((known) => known.flag === flag)
  const refused = Object.entries(flagsElsewhere)
    .filter(([flag]) => !isTaken(flag))
    .map(([flag, reason]) => `| ${cell(flag)} | ${reason} |\n`)
  return [
    '# Flags of the kube-apiserver of the test assets\n\nFor projects that pass flags of their own to the programs of the test assets.\n\nFlags are read as pflag does: `--name=value`, `--name value`, and `--name` alone for those that are true or false. A flag that the release of the assets does not have ends the process with a sentence and exit code 2, and `--help` does not list it; the log names deprecated ones.\n',
    `\n## Honoured\n\n| flag | |\n|---|---|\n${honoured.join('')}`,
    `\n## Without object here\n\nThese only tune what does not exist here. They are accepted, and one line of the log names them.\n\n| flag | what it tunes in kube-apiserver |\n|---|---|\n${tuning.join('')}`,
    `\n## Refused\n\nThese would change an answer, the safety or the storage. The process ends with a sentence and exit code 2.\n\n| flag | reason |\n|---|---|\n${refused.join('')}`,
  ].join('')
}

test('the page of flags in the documentation is current', async () => {
  await expect(printFlagClassesPage()).toMatchFileSnapshot('../../../../docs/reference/envtest-flags.md')
})

test('no flag is both honoured and without effect', () => {
  const honoured = eachSetting(apiServerSettings).map(({ flag }) => flag)
  expect(honoured.filter((flag) => flagsWithoutObject.has(flag))).toEqual([])
})
