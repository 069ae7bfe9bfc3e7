import { eachSetting, printHelp } from '@orch/platform'
import { flagsElsewhere } from '../settings/general.ts'
import { flagsWithoutObject, hasFlag, printReleases } from './flags.ts'
import { apiServerSettings, apiServerSettingsAt } from './settings.ts'

/** The output of `kube-apiserver --help` of the test assets of 1.`minor`. */
export function printApiServerHelp(minor: number): string {
  const settings = eachSetting(apiServerSettingsAt(minor)).filter(({ flag }) => hasFlag(flag, minor))
  const lines = [...flagsWithoutObject.values()]
    .filter(({ flag }) => hasFlag(flag, minor))
    .map(({ flag, tunes }) => `  ${flag}\n        No effect here; in kube-apiserver it tunes ${tunes}.\n`)
  const head =
    'The API server of orch, configured by the flags of kube-apiserver. ORCH_ENVTEST_CONTROLLERS names controllers to run beside it, or all.'
  return `${head}\n\nUsage:\n  kube-apiserver [flags]\n\n${printHelp(settings)}\nWithout object here:\n${lines.join('')}`
}

/** The output of `etcd --help` of the test assets. */
export function printEtcdHelp(): string {
  return `Holds the data folder of the API server of orch for tests.

Usage:
  etcd [flags]

Flags:
  --data-dir 'default.etcd'
        Folder for the data.
  --listen-client-urls 'http://localhost:2379'
        Where the API server finds it.
  --unsafe-no-fsync
        Accepted, no effect.

The other flags of a single member are accepted and have no effect.
`
}

/** The page of the documentation that lists every flag of kube-apiserver by its class. */
export function printFlagClassesPage(): string {
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
