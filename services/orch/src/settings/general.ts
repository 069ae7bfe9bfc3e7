import { resolve } from 'node:path'
import { namesOf, type Profile, profiles } from '@orch/core/names'
import {
  eachSetting,
  flagText,
  loadSettingsFile,
  logFormats,
  logLevels,
  readSettings,
  type Settings,
  type SettingsResult,
  settingsOf,
  settingTypes,
} from '@orch/platform'
import { printComplaint, type Terminal } from '../process/terminal.ts'

const { bool, duration, oneOf, path } = settingTypes
const setting = settingsOf('General')
const inState = settingsOf('State')

/** Settings of every command. */
export const generalSettings = {
  config: setting(
    { flag: '--config', type: path },
    'YAML file with settings. The key of a setting is its flag without the leading dashes.',
  ),
  profile: setting(
    { flag: '--profile', type: oneOf(profiles), default: 'orch' },
    'Names of API groups, labels and namespaces: orch uses its own, kubernetes uses those that kubectl and other existing clients expect.',
  ),
  logLevel: setting(
    { flag: '--log-level', type: oneOf(logLevels), default: 'info' },
    'Lowest level of the log lines that are written to standard error.',
  ),
  logFormat: setting({ flag: '--log-format', type: oneOf(logFormats), default: 'text' }, 'json for machines, text for people.'),
}

/** The settings of the state of a server in one process. */
export const stateSettings = {
  dataDir: inState(
    { flag: '--data-dir', type: path, defaultDoc: '.orch/<profile>' },
    "Folder for the state, the certificates and the administrator's client configuration.",
  ),
  memory: inState(
    { flag: '--memory', type: bool, default: 'false' },
    'Keeps all objects in memory; only the certificates and the client configuration are written to the data folder.',
  ),
  detach: inState(
    { flag: '--detach', type: bool, default: 'false' },
    'Returns when the server is ready, which goes on as a process of its own; its log is server.log of the data folder. orch stop ends it.',
  ),
}

/** The settings of a storage: encryption at rest and the history of changes. */
export const storageSettings = {
  encryptionProviderConfig: inState(
    { flag: '--encryption-provider-config', type: path },
    'EncryptionConfiguration: which resources are encrypted in the store, and with which keys. By default none is.',
  ),
  encryptionProviderConfigAutomaticReload: inState(
    { flag: '--encryption-provider-config-automatic-reload', type: bool, default: 'false' },
    'Reads the EncryptionConfiguration again when its file changes. One that is not valid leaves the present one in use.',
  ),
  watchHistoryMs: inState(
    { flag: '--watch-history', type: duration, default: '5m' },
    'Time for which past changes are kept, so that watches can resume and lists can be continued.',
  ),
}

/** The setting of simulated nodes. The maximum is the number of nodes with an address. */
export const nodesSettings = {
  simulatedNodes: settingsOf('Nodes')(
    { flag: '--simulated-nodes', type: settingTypes.int({ min: 0, max: 1000 }), default: '0' },
    'Nodes to simulate, named node-1, node-2 and so on: they run Pods as kubelets do, without containers. Switches the controllers of workloads and nodes on; -NAME in --controllers still removes one.',
  ),
}

/** The settings of a command from flags, the environment and the file in `--config`. */
export async function readCommandSettings<S extends Settings & Pick<typeof generalSettings, 'config' | 'logFormat'>>(
  settings: S,
  terminal: Terminal,
  flags: readonly string[],
): Promise<SettingsResult<S>> {
  const { config } = settings
  const path = flagText(flags, config.flag) ?? terminal.env[config.env] ?? ''
  const file = await loadSettingsFile(path === '' ? '' : resolve(terminal.workingFolder, path))
  const result = readSettings(settings, { flags, env: terminal.env, file, elsewhere: flagsElsewhere })
  const format = result.texts.get('--log-format') === 'json' ? 'json' : 'text'
  for (const warning of result.warnings) terminal.error(printComplaint(format, 'warn', warning))
  return result
}

/** Reads the settings of one command. */
export function readerOf<S extends Parameters<typeof readCommandSettings>[0]>(settings: S) {
  return (terminal: Terminal, flags: readonly string[]) => readCommandSettings(settings, terminal, flags)
}

/** The file of the data folder with the URL and the token of the control. */
export const controlFile = 'control.json'

/** The data folder of a profile, below the working folder. */
export function defaultDataDir(profile: Profile): string {
  return `.${namesOf('orch').serverServiceName}/${profile}`
}

/** Flags with their values, separated by paths. */
export function splitWords(settings: Settings, words: readonly string[]) {
  const flags: string[] = []
  const paths: string[] = []
  const takesWord = eachSetting(settings).flatMap(({ flag, type }): string[] => (type.word === '' ? [] : [flag]))
  for (const [index, word] of words.entries()) {
    const isFlag = word.startsWith('-') || takesWord.includes(words[index - 1] ?? '')
    if (isFlag) flags.push(word)
    else paths.push(word)
  }
  return { flags, paths }
}

/** The reasons why flags of kube-apiserver are absent, and their replacements; by reason, then by flag. */
const reasons: readonly (readonly [reason: string, flags: string])[] = [
  ['logs go to standard error; see --log-level and --log-format', 'add-dir-header alsologtostderr log-backtrace-at log-dir log-file'],
  ['logs go to standard error; see --log-level and --log-format', 'log-file-max-size log-flush-frequency log-json-info-buffer-size'],
  ['logs go to standard error; see --log-level and --log-format', 'log-json-split-stream logging-format logtostderr one-output'],
  ['logs go to standard error; see --log-level and --log-format', 'log-text-info-buffer-size log-text-split-stream'],
  ['logs go to standard error; see --log-level and --log-format', 'skip-headers skip-log-headers stderrthreshold v vmodule'],
  ['tokens are signed by the key in --service-account-signing-key-file', 'service-account-signing-endpoint'],
  ['logs are not served', 'enable-logs-handler'],
  ['use --enable-admission-plugins and --disable-admission-plugins', 'admission-control'],
  ['etcd is configured by the flags of `orch storage`, or --distributed starts one', 'etcd-cafile etcd-certfile etcd-keyfile etcd-prefix'],
  ['etcd is configured by the flags of `orch storage`, or --distributed starts one', 'etcd-servers'],
  ['all objects are in one store', 'etcd-servers-overrides'],
  ['the store and its encoding cannot be chosen', 'storage-backend storage-media-type'],
  ['storage compacts by itself; see --watch-history', 'etcd-compaction-interval'],
  ['/readyz checks the store', 'etcd-healthcheck-timeout etcd-readycheck-timeout'],
  ['sizes of the store are read when metrics are asked for', 'etcd-count-metric-poll-period etcd-db-metric-poll-interval'],
  ['all reads come from memory', 'default-watch-cache-size watch-cache watch-cache-sizes'],
  ['see --event-ttl', 'lease-reuse-duration-seconds'],
  ['garbage collection is a controller; see --controllers', 'enable-garbage-collector'],
  ['collections are deleted by one request at a time', 'delete-collection-workers'],
  ['gateways find one another; see --advertise-address of orch gateway', 'advertise-address apiserver-count endpoint-reconciler-type'],
  ['gateways find one another', 'identity-lease-duration-seconds identity-lease-renew-interval-seconds'],
  ['servers behind this one are reached directly', 'egress-selector-config-file'],
  ['kubelets are asked over HTTPS alone; see --kubelet-port', 'kubelet-https kubelet-read-only-port'],
  ['there is no cloud provider', 'cloud-config cloud-provider cloud-provider-gce-l7lb-src-cidrs cloud-provider-gce-lb-src-cidrs'],
  ['privileged containers are a matter of pod security; see docs/how-to/admission-security.md', 'allow-privileged'],
  ['the generated certificate is in the data folder; see --tls-cert-file for another', 'cert-dir'],
  ['the address comes from the configuration of each client', 'external-hostname'],
  ['the Service of the server has a cluster address only', 'kubernetes-service-node-port'],
  ['the namespaces of the system have fixed names', 'master-service-namespace'],
  ['ports are not shared between processes', 'permit-address-sharing permit-port-sharing'],
  ['connections are bounded by requests; see --http2-max-streams-per-connection', 'max-connection-bytes-per-sec'],
  ['there are no locks to profile', 'contention-profiling'],
  ['see the OTEL_* variables in docs/how-to/telemetry.md', 'tracing-config-file'],
  ['all metrics have bounded labels', 'allow-metric-labels disabled-metrics'],
  ['see --shutdown-delay-duration', 'livez-grace-period'],
  ['use the command `orch version`', 'version'],
  ['an emulated version serves all versions that it has', 'emulation-forward-compatible runtime-config-emulation-forward-compatible'],
  ['compatibility reaches to the release before --emulated-version', 'min-compatibility-version'],
  ['gateways serve the same resources', 'peer-advertise-ip peer-advertise-port peer-ca-file'],
  ['leader election is decided by its candidates', 'coordinated-leadership-lease-duration coordinated-leadership-renew-deadline'],
  ['leader election is decided by its candidates', 'coordinated-leadership-retry-period'],
  ['HTTP/2 is always offered; clients choose', 'disable-http2-serving'],
  ['profiles are taken at /debug/pprof', 'debug-socket-path'],
  ['a start waits for the store as long as it takes', 'storage-initialization-timeout'],
  ['all metrics have bounded labels', 'allow-metric-labels-manifest'],
]

/** kube-apiserver flags that this server lacks, each with the reason. */
export const flagsElsewhere: Readonly<Record<string, string>> = Object.fromEntries(
  reasons.flatMap(([reason, flags]) => flags.split(' ').map((flag) => [`--${flag}`, reason])),
)
