import { settingsOf, settingTypes } from '@orch/platform'

const { bool, duration, int, oneOf, path, string } = settingTypes
const setting = settingsOf('Audit')
const modes = ['batch', 'blocking', 'blocking-strict'] as const
const count = int({ min: 0, max: 1_000_000_000 })
const positive = int({ min: 1, max: 1_000_000_000 })

/** What a gateway writes down about requests. */
export const auditSettings = {
  auditPolicyFile: setting({
    flag: '--audit-policy-file',
    type: path,
    doc: 'Audit policy: which requests are recorded, and at which level. Without it no audit events are made.',
  }),
  auditLogPath: setting({ flag: '--audit-log-path', type: path, doc: 'File for audit events; - means standard output.' }),
  auditLogFormat: setting({
    flag: '--audit-log-format',
    type: oneOf(['json', 'legacy']),
    default: 'json',
    doc: 'json writes complete events, legacy one line of text without bodies.',
  }),
  auditLogVersion: versionSetting('log'),
  auditLogMaxAgeDays: setting({
    flag: '--audit-log-maxage',
    type: count,
    default: '0',
    doc: 'Days that rotated files are kept; 0 keeps them forever.',
  }),
  auditLogMaxBackup: setting({
    flag: '--audit-log-maxbackup',
    type: count,
    default: '0',
    doc: 'Number of rotated files that are kept; 0 keeps all.',
  }),
  auditLogMaxSizeMegabytes: setting({
    flag: '--audit-log-maxsize',
    type: int({ min: 0, max: 1_000_000 }),
    default: '0',
    doc: 'Size in megabytes at which the file is rotated; 0 means 100.',
  }),
  auditLogCompress: setting({ flag: '--audit-log-compress', type: bool, default: 'false', doc: 'Compresses rotated files.' }),
  auditLogMode: setting({
    flag: '--audit-log-mode',
    type: oneOf(modes),
    default: 'blocking',
    doc: 'blocking: a request waits until its event is written; blocking-strict: and fails if that fails; batch: events are written from a bounded buffer.',
  }),
  ...batchSettings('log', { maxSize: '1', maxWait: '0s', throttle: 'false', perSecond: '0', burst: '0' }),
  ...truncateSettings('log'),
  auditWebhookConfigFile: setting({
    flag: '--audit-webhook-config-file',
    type: path,
    doc: 'Client configuration file of the audit webhook.',
  }),
  auditWebhookInitialBackoffMs: setting({
    flag: '--audit-webhook-initial-backoff',
    formerly: ['--audit-webhook-batch-initial-backoff'],
    type: duration,
    default: '10s',
    doc: 'Delay before the first retry of a failed delivery; it grows with each retry.',
  }),
  auditWebhookVersion: versionSetting('webhook'),
  auditWebhookMode: setting({ flag: '--audit-webhook-mode', type: oneOf(modes), default: 'batch', doc: 'See --audit-log-mode.' }),
  ...batchSettings('webhook', { maxSize: '400', maxWait: '30s', throttle: 'true', perSecond: '10', burst: '15' }),
  ...truncateSettings('webhook'),
}

/** There is one version; a script may name it, and any other is an error. */
function versionSetting(backend: 'log' | 'webhook') {
  return setting({
    flag: `--audit-${backend}-version`,
    type: string,
    doc: 'API group and version of the events; there is only one, that of the profile.',
  })
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
    BufferEventsMax: setting({
      flag: `--audit-${backend}-batch-buffer-size`,
      type: positive,
      default: '10000',
      doc: 'Maximum number of buffered events in batch mode; events beyond it are dropped and counted.',
    }),
    BatchEventsMax: setting({
      flag: `--audit-${backend}-batch-max-size`,
      type: positive,
      default: defaults.maxSize,
      doc: 'Maximum number of events in a batch.',
    }),
    BatchWaitMs: setting({
      flag: `--audit-${backend}-batch-max-wait`,
      type: duration,
      default: defaults.maxWait,
      doc: 'Maximum time that events wait for a batch to fill.',
    }),
    ThrottleEnable: setting({
      flag: `--audit-${backend}-batch-throttle-enable`,
      type: bool,
      default: defaults.throttle,
      doc: 'Limits the number of batches per second.',
    }),
    ThrottlePerSecond: setting({
      flag: `--audit-${backend}-batch-throttle-qps`,
      type: count,
      default: defaults.perSecond,
      doc: 'Maximum number of batches per second.',
    }),
    ThrottleBurst: setting({
      flag: `--audit-${backend}-batch-throttle-burst`,
      type: count,
      default: defaults.burst,
      doc: 'Maximum number of batches at once after an idle time.',
    }),
  })
}

function truncateSettings<const B extends 'log' | 'webhook'>(backend: B) {
  return prefixed(backend, {
    TruncateEnabled: setting({
      flag: `--audit-${backend}-truncate-enabled`,
      type: bool,
      default: 'false',
      doc: 'Removes the bodies of events that are too large, and splits batches that are too large.',
    }),
    TruncateBatchBytesMax: setting({
      flag: `--audit-${backend}-truncate-max-batch-size`,
      type: positive,
      default: '10485760',
      doc: 'Maximum size of a batch in bytes.',
    }),
    TruncateEventBytesMax: setting({
      flag: `--audit-${backend}-truncate-max-event-size`,
      type: positive,
      default: '102400',
      doc: 'Maximum size of an event in bytes.',
    }),
  })
}

type Prefixed<B extends string, S> = { [K in keyof S & string as `audit${Capitalize<B>}${K}`]: S[K] }

function prefixed<const B extends 'log' | 'webhook', S extends object>(backend: B, settings: S): Prefixed<B, S> {
  const prefix = backend === 'log' ? 'auditLog' : 'auditWebhook'
  // The keys are those that the type spells out.
  return Object.fromEntries(Object.entries(settings).map(([name, one]) => [`${prefix}${name}`, one])) as Prefixed<B, S>
}
