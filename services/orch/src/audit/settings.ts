import { domainGroup, namesOf, type Profile } from '@orch/core/names'
import { SettingsError, settingsOf, settingTypes, type Values } from '@orch/platform'
import { readFlagFile } from '../configuration/flag-files.ts'

const { bool, duration, int, oneOf, path, string } = settingTypes
const setting = settingsOf('Audit')
const modes = ['batch', 'blocking', 'blocking-strict'] as const
const count = int({ min: 0, max: 1_000_000_000 })
const positive = int({ min: 1, max: 1_000_000_000 })

/** The audit settings of a gateway. */
export const auditSettings = {
  auditPolicyFile: setting(
    { flag: '--audit-policy-file', type: path },
    'Audit policy: which requests are recorded, and at which level. Without it no audit events are made.',
  ),
  auditLogPath: setting({ flag: '--audit-log-path', type: path }, 'File for audit events; - means standard output.'),
  auditLogFormat: setting(
    { flag: '--audit-log-format', type: oneOf(['json', 'legacy']), default: 'json' },
    'json writes complete events, legacy one line of text without bodies.',
  ),
  auditLogVersion: versionSetting('log'),
  auditLogMaxAgeDays: setting(
    { flag: '--audit-log-maxage', type: count, default: '366' },
    'Days that rotated files are kept; 0 keeps them forever.',
  ),
  auditLogMaxBackup: setting(
    { flag: '--audit-log-maxbackup', type: count, default: '100' },
    'Number of rotated files that are kept; 0 keeps all.',
  ),
  auditLogMaxSizeMegabytes: setting(
    { flag: '--audit-log-maxsize', type: int({ min: 0, max: 1_000_000 }), default: '100' },
    'Size in megabytes at which the file is rotated; 0 means 100.',
  ),
  auditLogCompress: setting({ flag: '--audit-log-compress', type: bool, default: 'false' }, 'Compresses rotated files.'),
  auditLogMode: setting(
    { flag: '--audit-log-mode', type: oneOf(modes), default: 'blocking' },
    'blocking: a request waits until its event is written; blocking-strict: and fails if that fails; batch: events are written from a bounded buffer.',
  ),
  ...batchSettings('log', { maxSize: '1', maxWait: '0s', throttle: 'false', perSecond: '0', burst: '0' }),
  ...truncateSettings('log'),
  auditWebhookConfigFile: setting({ flag: '--audit-webhook-config-file', type: path }, 'Client configuration file of the audit webhook.'),
  auditWebhookInitialBackoffMs: setting(
    { flag: '--audit-webhook-initial-backoff', formerly: ['--audit-webhook-batch-initial-backoff'], type: duration, default: '10s' },
    'Delay before the first retry of a failed delivery; it grows with each retry.',
  ),
  auditWebhookVersion: versionSetting('webhook'),
  auditWebhookMode: setting({ flag: '--audit-webhook-mode', type: oneOf(modes), default: 'batch' }, 'See --audit-log-mode.'),
  ...batchSettings('webhook', { maxSize: '400', maxWait: '30s', throttle: 'true', perSecond: '10', burst: '15' }),
  ...truncateSettings('webhook'),
}

/** The only valid version; a script may set this version, and any other version is an error. */
function versionSetting(backend: 'log' | 'webhook') {
  return setting(
    { flag: `--audit-${backend}-version`, type: string },
    'API group and version of the events; there is only one, that of the profile.',
  )
}

interface BatchDefaults {
  readonly maxSize: string
  readonly maxWait: string
  readonly throttle: string
  readonly perSecond: string
  readonly burst: string
}

/** Settings that both backends have under their own names. */
function batchSettings<const B extends 'log' | 'webhook'>(backend: B, defaults: BatchDefaults) {
  return prefixed(backend, {
    BufferEventsMax: setting(
      { flag: `--audit-${backend}-batch-buffer-size`, type: positive, default: '10000' },
      'Maximum number of buffered events in batch mode; events beyond it are dropped and counted.',
    ),
    BatchEventsMax: setting(
      { flag: `--audit-${backend}-batch-max-size`, type: positive, default: defaults.maxSize },
      'Maximum number of events in a batch.',
    ),
    BatchWaitMs: setting(
      { flag: `--audit-${backend}-batch-max-wait`, type: duration, default: defaults.maxWait },
      'Maximum time that events wait for a batch to fill.',
    ),
    ThrottleEnable: setting(
      { flag: `--audit-${backend}-batch-throttle-enable`, type: bool, default: defaults.throttle },
      'Limits the number of batches per second.',
    ),
    ThrottlePerSecond: setting(
      { flag: `--audit-${backend}-batch-throttle-qps`, type: count, default: defaults.perSecond },
      'Maximum number of batches per second.',
    ),
    ThrottleBurst: setting(
      { flag: `--audit-${backend}-batch-throttle-burst`, type: count, default: defaults.burst },
      'Maximum number of batches at once after an idle time.',
    ),
  })
}

function truncateSettings<const B extends 'log' | 'webhook'>(backend: B) {
  return prefixed(backend, {
    TruncateEnabled: setting(
      { flag: `--audit-${backend}-truncate-enabled`, type: bool, default: 'false' },
      'Removes the bodies of events that are too large, and splits batches that are too large.',
    ),
    TruncateBatchBytesMax: setting(
      { flag: `--audit-${backend}-truncate-max-batch-size`, type: positive, default: '10485760' },
      'Maximum size of a batch in bytes.',
    ),
    TruncateEventBytesMax: setting(
      { flag: `--audit-${backend}-truncate-max-event-size`, type: positive, default: '102400' },
      'Maximum size of an event in bytes.',
    ),
  })
}

type Prefixed<B extends string, S> = { [K in keyof S & string as `audit${Capitalize<B>}${K}`]: S[K] }

function prefixed<const B extends 'log' | 'webhook', S extends object>(backend: B, settings: S): Prefixed<B, S> {
  const prefix = backend === 'log' ? 'auditLog' : 'auditWebhook'
  // The keys are members of the type.
  return Object.fromEntries(Object.entries(settings).map(([name, one]) => [`${prefix}${name}`, one])) as Prefixed<B, S>
}

type AuditValues = Values<typeof auditSettings> & { readonly profile: Profile }

/** The audit options of a gateway. */
export type AuditOptions = NonNullable<ReturnType<typeof readAudit>>

/** Settings of every backend. */
export type AuditBackend = ReturnType<typeof readBackend>

/** Delay before the next attempt to write a file, because a full disk stays full for a while. */
const fileBackoffMs = 1_000

/** Checks the combination of settings and parses the policy. Without a policy nothing is recorded. */
export function readAudit(settings: AuditValues) {
  const { auditPolicyFile, auditLogPath: path, auditWebhookConfigFile: configFile, profile } = settings
  checkVersion('--audit-log-version', settings.auditLogVersion, profile)
  checkVersion('--audit-webhook-version', settings.auditWebhookVersion, profile)
  if (auditPolicyFile === '') {
    if (path !== '') throw new SettingsError('--audit-log-path needs --audit-policy-file, which decides what is written')
    if (configFile === '') return undefined
    throw new SettingsError('--audit-webhook-config-file needs --audit-policy-file, which decides what is sent')
  }
  if (path === '' && configFile === '') {
    throw new SettingsError('--audit-policy-file needs --audit-log-path or --audit-webhook-config-file')
  }
  return {
    policyFile: auditPolicyFile,
    /** The policy of its file. */
    policy: readFlagFile('--audit-policy-file', auditPolicyFile),
    /** A file with its rotation rules; undefined for none. */
    log: path === '' ? undefined : { path, ...rotationOf(settings), ...readBackend(settings, 'auditLog', fileBackoffMs) },
    webhook:
      configFile === '' ? undefined : { configFile, ...readBackend(settings, 'auditWebhook', settings.auditWebhookInitialBackoffMs) },
  }
}

function checkVersion(flag: string, version: string, profile: Profile): void {
  const only = `${domainGroup(namesOf(profile), 'audit')}/v1`
  if (version !== '' && version !== only) throw new SettingsError(`${flag}=${version}: must be ${only}`)
}

function rotationOf(settings: AuditValues) {
  return {
    format: settings.auditLogFormat,
    sizeMegabytesMax: settings.auditLogMaxSizeMegabytes,
    ageDaysMax: settings.auditLogMaxAgeDays,
    filesMax: settings.auditLogMaxBackup,
    compress: settings.auditLogCompress,
  }
}

function readBackend(settings: AuditValues, backend: 'auditLog' | 'auditWebhook', backoffMs: number) {
  return {
    mode: settings[`${backend}Mode` as const],
    batch: {
      bufferEventsMax: settings[`${backend}BufferEventsMax` as const],
      batchEventsMax: settings[`${backend}BatchEventsMax` as const],
      waitMs: settings[`${backend}BatchWaitMs` as const],
      throttle: settings[`${backend}ThrottleEnable` as const]
        ? { perSecond: settings[`${backend}ThrottlePerSecond` as const], burst: settings[`${backend}ThrottleBurst` as const] }
        : undefined,
      backoffMs,
    },
    truncate: settings[`${backend}TruncateEnabled` as const]
      ? {
          eventBytesMax: settings[`${backend}TruncateEventBytesMax` as const],
          batchBytesMax: settings[`${backend}TruncateBatchBytesMax` as const],
        }
      : undefined,
  }
}
