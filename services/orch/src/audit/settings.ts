import { domainGroup, namesOf, type Profile } from '@orch/core/names'
import { readFlagFile, SettingsError, settingsOf, settingTypes, type Values } from '@orch/platform'

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
  auditLog: {
    path: setting({ flag: '--audit-log-path', type: path }, 'File for audit events; - means standard output.'),
    format: setting(
      { flag: '--audit-log-format', type: oneOf(['json', 'legacy']), default: 'json' },
      'json writes complete events, legacy one line of text without bodies.',
    ),
    version: versionSetting('log'),
    ageDaysMax: setting(
      { flag: '--audit-log-maxage', type: count, default: '366' },
      'Days that rotated files are kept; 0 keeps them forever.',
    ),
    filesMax: setting(
      { flag: '--audit-log-maxbackup', type: count, default: '100' },
      'Number of rotated files that are kept; 0 keeps all.',
    ),
    sizeMegabytesMax: setting(
      { flag: '--audit-log-maxsize', type: int({ min: 0, max: 1_000_000 }), default: '100' },
      'Size in megabytes at which the file is rotated; 0 means 100.',
    ),
    compress: setting({ flag: '--audit-log-compress', type: bool, default: 'false' }, 'Compresses rotated files.'),
    mode: setting(
      { flag: '--audit-log-mode', type: oneOf(modes), default: 'blocking' },
      'blocking: a request waits until its event is written; blocking-strict: and fails if that fails; batch: events are written from a bounded buffer.',
    ),
    ...backendSettings('log', { maxSize: '1', maxWait: '0s', throttle: 'false', perSecond: '0', burst: '0' }),
  },
  auditWebhook: {
    configFile: setting({ flag: '--audit-webhook-config-file', type: path }, 'Client configuration file of the audit webhook.'),
    backoffMs: setting(
      { flag: '--audit-webhook-initial-backoff', formerly: ['--audit-webhook-batch-initial-backoff'], type: duration, default: '10s' },
      'Delay before the first retry of a failed delivery; it grows with each retry.',
    ),
    version: versionSetting('webhook'),
    mode: setting({ flag: '--audit-webhook-mode', type: oneOf(modes), default: 'batch' }, 'See --audit-log-mode.'),
    ...backendSettings('webhook', { maxSize: '400', maxWait: '30s', throttle: 'true', perSecond: '10', burst: '15' }),
  },
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
function backendSettings(backend: 'log' | 'webhook', defaults: BatchDefaults) {
  return {
    batch: {
      bufferEventsMax: setting(
        { flag: `--audit-${backend}-batch-buffer-size`, type: positive, default: '10000' },
        'Maximum number of buffered events in batch mode; events beyond it are dropped and counted.',
      ),
      batchEventsMax: setting(
        { flag: `--audit-${backend}-batch-max-size`, type: positive, default: defaults.maxSize },
        'Maximum number of events in a batch.',
      ),
      waitMs: setting(
        { flag: `--audit-${backend}-batch-max-wait`, type: duration, default: defaults.maxWait },
        'Maximum time that events wait for a batch to fill.',
      ),
    },
    throttle: {
      isOn: setting(
        { flag: `--audit-${backend}-batch-throttle-enable`, type: bool, default: defaults.throttle },
        'Limits the number of batches per second.',
      ),
      perSecond: setting(
        { flag: `--audit-${backend}-batch-throttle-qps`, type: count, default: defaults.perSecond },
        'Maximum number of batches per second.',
      ),
      burst: setting(
        { flag: `--audit-${backend}-batch-throttle-burst`, type: count, default: defaults.burst },
        'Maximum number of batches at once after an idle time.',
      ),
    },
    truncate: {
      isOn: setting(
        { flag: `--audit-${backend}-truncate-enabled`, type: bool, default: 'false' },
        'Removes the bodies of events that are too large, and splits batches that are too large.',
      ),
      batchBytesMax: setting(
        { flag: `--audit-${backend}-truncate-max-batch-size`, type: positive, default: '10485760' },
        'Maximum size of a batch in bytes.',
      ),
      eventBytesMax: setting(
        { flag: `--audit-${backend}-truncate-max-event-size`, type: positive, default: '102400' },
        'Maximum size of an event in bytes.',
      ),
    },
  }
}

type AuditValues = Values<typeof auditSettings> & { readonly profile: Profile }

/** The audit options of a gateway. */
export type AuditOptions = NonNullable<ReturnType<typeof readAudit>>

/** Settings of every backend. */
export type AuditBackend = ReturnType<typeof readBackend>

/** Delay before the next attempt to write a file, because a full disk stays full for a while. */
const fileBackoffMs = 1_000

/** Checks the combination of settings and parses the policy. Without a policy nothing is recorded. */
export function readAudit({ auditPolicyFile, auditLog: log, auditWebhook: webhook, profile }: AuditValues) {
  checkVersion('--audit-log-version', log.version, profile)
  checkVersion('--audit-webhook-version', webhook.version, profile)
  if (auditPolicyFile === '') {
    if (log.path !== '') throw new SettingsError('--audit-log-path needs --audit-policy-file, which decides what is written')
    if (webhook.configFile === '') return undefined
    throw new SettingsError('--audit-webhook-config-file needs --audit-policy-file, which decides what is sent')
  }
  if (log.path === '' && webhook.configFile === '') {
    throw new SettingsError('--audit-policy-file needs --audit-log-path or --audit-webhook-config-file')
  }
  return {
    policyFile: auditPolicyFile,
    policy: readFlagFile('--audit-policy-file', auditPolicyFile),
    /** A file with its rotation rules; undefined for none. */
    log: log.path === '' ? undefined : { ...log, ...readBackend(log, fileBackoffMs) },
    webhook: webhook.configFile === '' ? undefined : { ...webhook, ...readBackend(webhook, webhook.backoffMs) },
  }
}

function checkVersion(flag: string, version: string, profile: Profile): void {
  const only = `${domainGroup(namesOf(profile), 'audit')}/v1`
  if (version !== '' && version !== only) throw new SettingsError(`${flag}=${version}: must be ${only}`)
}

type BackendValues = AuditValues['auditLog' | 'auditWebhook']

function readBackend(
  { mode, batch, throttle: { isOn: isThrottled, ...throttle }, truncate: { isOn, ...sizes } }: BackendValues,
  backoffMs: number,
) {
  return {
    mode,
    batch: { ...batch, throttle: isThrottled ? throttle : undefined, backoffMs },
    truncate: isOn ? sizes : undefined,
  }
}
