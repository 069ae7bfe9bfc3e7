import { printRelease } from '@orch/core/feature-gates'
import { eachSetting, printHelp, SettingsError, settingsOf, settingTypes } from '@orch/platform'
import { admissionSettings } from '../admission/settings.ts'
import { etcdSettings } from '../backends/connections.ts'
import { gatewaySettings } from '../gateway/settings.ts'
import { generalSettings, storageSettings } from '../settings/general.ts'

const inServing = settingsOf('Serving')
const inAdmission = settingsOf('Admission')

const { etcdServers, etcdPrefix, etcdCaFile, etcdCertFile, etcdKeyFile } = etcdSettings

/** The honoured settings of the test assets' `kube-apiserver`. */
export const apiServerSettings = {
  ...generalSettings,
  profile: { ...generalSettings.profile, default: 'kubernetes' },
  ...gatewaySettings,
  watchGraceMs: { ...gatewaySettings.watchGraceMs, default: '0s' },
  certDir: inServing(
    { flag: '--cert-dir', type: settingTypes.path, defaultDoc: 'a certificate in memory' },
    'Folder of apiserver.crt and apiserver.key, the serving certificate where --tls-cert-file names none. They are generated where they are absent.',
  ),
  advertiseAddress: inServing(
    { flag: '--advertise-address', type: settingTypes.string, defaultDoc: '--bind-address, or the first address of this machine' },
    'Address in the Endpoints of the Service of the server.',
  ),
  ...admissionSettings,
  allowPrivileged: inAdmission(
    { flag: '--allow-privileged', type: settingTypes.bool, default: 'true' },
    'Only true: privileged containers are a matter of pod security.',
  ),
  etcdServers: {
    ...etcdServers,
    doc: 'URLs of an etcd: that of the test assets, whose data folder then holds the state, or a real one.',
  },
  etcdPrefix: { ...etcdPrefix, default: '/registry', defaultDoc: '/registry', doc: 'Prefix of all keys; servers may share an etcd.' },
  etcdCaFile,
  etcdCertFile,
  etcdKeyFile,
  ...storageSettings,
}

const { auditLog } = apiServerSettings

/** The settings with the defaults of kube-apiserver 1.`minor`. */
export function apiServerSettingsAt(minor: number): typeof apiServerSettings {
  if (minor >= 36) return apiServerSettings
  return {
    ...apiServerSettings,
    auditLog: {
      ...auditLog,
      ageDaysMax: { ...auditLog.ageDaysMax, default: '0' },
      filesMax: { ...auditLog.filesMax, default: '0' },
      sizeMegabytesMax: { ...auditLog.sizeMegabytesMax, default: '0' },
    },
  }
}

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

/** Flags by the minor version of the first kube-apiserver that has them. Other flags are in every release from 1.25 on. */
const added: Readonly<Record<number, string>> = {
  26: 'encryption-provider-config-automatic-reload',
  27: 'debug-socket-path shutdown-watch-termination-grace-period',
  28: 'peer-advertise-ip peer-advertise-port peer-ca-file',
  29: 'allow-metric-labels-manifest authentication-config authorization-config',
  30: 'log-text-info-buffer-size log-text-split-stream',
  31: 'disable-http2-serving emulated-version storage-initialization-timeout',
  32: 'requestheader-uid-headers service-account-signing-endpoint',
  33: 'emulation-forward-compatible runtime-config-emulation-forward-compatible',
  34: 'coordinated-leadership-lease-duration coordinated-leadership-renew-deadline coordinated-leadership-retry-period',
  35: 'min-compatibility-version',
  36: 'tls-curve-preferences',
}

const klog =
  'add-dir-header alsologtostderr log-backtrace-at log-dir log-file log-file-max-size logtostderr one-output skip-headers skip-log-headers stderrthreshold'
const gceRanges = 'cloud-provider-gce-l7lb-src-cidrs cloud-provider-gce-lb-src-cidrs'

/** Flags by the minor version of the first kube-apiserver that lacks them. */
const removed: Readonly<Record<number, string>> = {
  26: `${klog} identity-lease-duration-seconds identity-lease-renew-interval-seconds`,
  27: 'master-service-namespace',
  31: gceRanges,
  33: 'cloud-config cloud-provider',
}

/** Flags by the minor version of the first kube-apiserver that warns of them. */
const deprecated: Readonly<Record<number, string>> = {
  25: `${klog} ${gceRanges} apiserver-count default-watch-cache-size enable-logs-handler kubelet-port kubelet-read-only-port`,
  26: 'master-service-namespace',
}

const addedIn = releaseByFlag(added)
const removedIn = releaseByFlag(removed)
const deprecatedIn = releaseByFlag(deprecated)

function releaseByFlag(table: Readonly<Record<number, string>>): ReadonlyMap<string, number> {
  return new Map(Object.entries(table).flatMap(([minor, flags]) => flags.split(' ').map((name) => [`--${name}`, Number(minor)] as const)))
}

/** True if kube-apiserver 1.`minor` has the flag. Flags of orch alone are in every release. */
export function hasFlag(flag: string, minor: number): boolean {
  return minor >= (addedIn.get(flag) ?? 0) && minor < (removedIn.get(flag) ?? Number.POSITIVE_INFINITY)
}

/** True if kube-apiserver 1.`minor` warns of the flag. */
export function isDeprecated(flag: string, minor: number): boolean {
  return minor >= (deprecatedIn.get(flag) ?? Number.POSITIVE_INFINITY)
}

/** Refuses a flag that kube-apiserver 1.`minor` does not have. */
export function requireFlag(flag: string, minor: number): void {
  if (!hasFlag(flag, minor))
    throw new SettingsError(`unknown flag: ${flag}: kube-apiserver ${printReleases(flag)}; this is ${printRelease(minor)}`)
}

/** `has it from 1.36 on`, for flags that are not in all releases. */
export function printReleases(flag: string): string {
  const [first, end] = [addedIn.get(flag), removedIn.get(flag)]
  if (first !== undefined) return `has it from ${printRelease(first)} on`
  return end === undefined ? '' : `has it up to ${printRelease(end - 1)}`
}

/**
 * Flags of kube-apiserver that only tune parts that this server does not have. They are accepted, and one line of the log names them. Grouped by
 * part, then by flag; a `?` marks booleans.
 */
const tuned: Readonly<Record<string, string>> = {
  'logging of klog': `
    add-dir-header? alsologtostderr? log-backtrace-at log-dir log-file log-file-max-size log-flush-frequency log-json-info-buffer-size
    log-json-split-stream? log-text-info-buffer-size log-text-split-stream? logging-format logtostderr? one-output? skip-headers? skip-log-headers? stderrthreshold v vmodule
    enable-logs-handler?`,
  'the watch cache and the way to etcd': `
    default-watch-cache-size delete-collection-workers etcd-compaction-interval etcd-count-metric-poll-period etcd-db-metric-poll-interval
    etcd-healthcheck-timeout etcd-readycheck-timeout lease-reuse-duration-seconds storage-backend storage-media-type watch-cache?
    watch-cache-sizes`,
  'profiles of Go': 'contention-profiling?',
  'calls to kubelets': 'kubelet-https? kubelet-read-only-port',
  'several servers of one cluster': `
    apiserver-count endpoint-reconciler-type identity-lease-duration-seconds identity-lease-renew-interval-seconds
    master-service-namespace`,
  'metrics of Go': 'allow-metric-labels disabled-metrics',
  'sockets and shutdown': `
    external-hostname livez-grace-period max-connection-bytes-per-sec permit-address-sharing? permit-port-sharing?`,
  'load balancers of a cloud': 'cloud-provider-gce-l7lb-src-cidrs cloud-provider-gce-lb-src-cidrs',
  'the controller of garbage': 'enable-garbage-collector?',
}

/** A flag that is accepted and has no effect. */
interface FlagWithoutObject {
  readonly flag: `--${string}`
  readonly isBoolean: boolean
  /** The part that the flag tunes in kube-apiserver. */
  readonly tunes: string
}

/** All flags without effect, by name. */
export const flagsWithoutObject: ReadonlyMap<string, FlagWithoutObject> = new Map(
  Object.entries(tuned).flatMap(([tunes, names]) =>
    names
      .trim()
      .split(/\s+/)
      .map((name) => {
        const flag = `--${name.replace('?', '')}` as const
        return [flag, { flag, isBoolean: name.endsWith('?'), tunes }]
      }),
  ),
)
