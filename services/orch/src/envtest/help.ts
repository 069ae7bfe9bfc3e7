import { eachSetting, printHelp } from '@orch/platform'
import { flagsWithoutObject, hasFlag } from './flags.ts'
import { apiServerSettingsAt } from './settings.ts'

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
