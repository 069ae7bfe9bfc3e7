import { setting, settingTypes } from '@orch/platform'

const { bool, duration, int, oneOf, path, string } = settingTypes

const group = 'Audit'
const modes = ['batch', 'blocking', 'blocking-strict'] as const
const count = int({ min: 0, max: 1_000_000_000 })
const positive = int({ min: 1, max: 1_000_000_000 })

/** What a gateway writes down about requests. */
export const auditSettings = {
  auditPolicyFile: setting({
    flag: '--audit-policy-file',
    env: 'ORCH_AUDIT_POLICY_FILE',
    type: path,
    default: '',
    group,
    doc: 'Which requests are written down, and how much of each. Without it nothing is.',
  }),
  auditLogPath: setting({
    flag: '--audit-log-path',
    env: 'ORCH_AUDIT_LOG_PATH',
    type: path,
    default: '',
    group,
    doc: 'File that audit events are written to; - is standard output.',
  }),
  auditLogFormat: setting({
    flag: '--audit-log-format',
    env: 'ORCH_AUDIT_LOG_FORMAT',
    type: oneOf(['json', 'legacy']),
    default: 'json',
    group,
    doc: 'json is whole events, legacy one line of words without bodies.',
  }),
  auditLogVersion: versionSetting('log'),
  auditLogMaxAgeDays: setting({
    flag: '--audit-log-maxage',
    env: 'ORCH_AUDIT_LOG_MAXAGE',
    type: count,
    default: '0',
    group,
    doc: 'Days that files set aside are kept; 0 is for ever.',
  }),
  auditLogMaxBackup: setting({
    flag: '--audit-log-maxbackup',
    env: 'ORCH_AUDIT_LOG_MAXBACKUP',
    type: count,
    default: '0',
    group,
    doc: 'Files set aside that are kept; 0 is all.',
  }),
  auditLogMaxSizeMegabytes: setting({
    flag: '--audit-log-maxsize',
    env: 'ORCH_AUDIT_LOG_MAXSIZE',
    type: int({ min: 0, max: 1_000_000 }),
    default: '0',
    group,
    doc: 'Megabytes at which the file is set aside; 0 is 100.',
  }),
  auditLogCompress: setting({
    flag: '--audit-log-compress',
    env: 'ORCH_AUDIT_LOG_COMPRESS',
    type: bool,
    default: 'false',
    group,
    doc: 'Compresses files set aside.',
  }),
  auditLogMode: setting({
    flag: '--audit-log-mode',
    env: 'ORCH_AUDIT_LOG_MODE',
    type: oneOf(modes),
    default: 'blocking',
    group,
    doc: 'blocking: a request waits for its event; blocking-strict: and fails with it; batch: events wait in a bounded buffer.',
  }),
  ...batchSettings('log', { maxSize: '1', maxWait: '0s', throttle: 'false', perSecond: '0', burst: '0' }),
  ...truncateSettings('log'),
  auditWebhookConfigFile: setting({
    flag: '--audit-webhook-config-file',
    env: 'ORCH_AUDIT_WEBHOOK_CONFIG_FILE',
    type: path,
    default: '',
    group,
    doc: 'Client configuration file of the server that audit events are sent to.',
  }),
  auditWebhookInitialBackoffMs: setting({
    flag: '--audit-webhook-initial-backoff',
    formerly: ['--audit-webhook-batch-initial-backoff'],
    env: 'ORCH_AUDIT_WEBHOOK_INITIAL_BACKOFF',
    type: duration,
    default: '10s',
    group,
    doc: 'Pause before a failed delivery is tried again; later ones are longer.',
  }),
  auditWebhookVersion: versionSetting('webhook'),
  auditWebhookMode: setting({
    flag: '--audit-webhook-mode',
    env: 'ORCH_AUDIT_WEBHOOK_MODE',
    type: oneOf(modes),
    default: 'batch',
    group,
    doc: 'As --audit-log-mode.',
  }),
  ...batchSettings('webhook', { maxSize: '400', maxWait: '30s', throttle: 'true', perSecond: '10', burst: '15' }),
  ...truncateSettings('webhook'),
}

/** There is one version; who names it in a script is understood, and who wants another is told. */
function versionSetting(backend: 'log' | 'webhook') {
  return setting({
    ...namer(backend)('version'),
    type: string,
    default: '',
    doc: 'Group and version in which events are written; there is one, that of the profile.',
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
  const named = namer(backend)
  return prefixed(backend, {
    BufferEventsMax: setting({
      ...named('batch-buffer-size'),
      type: positive,
      default: '10000',
      doc: 'Events that may wait in batch mode; what comes beyond is lost and counted.',
    }),
    BatchEventsMax: setting({ ...named('batch-max-size'), type: positive, default: defaults.maxSize, doc: 'Events of one batch.' }),
    BatchWaitMs: setting({
      ...named('batch-max-wait'),
      type: duration,
      default: defaults.maxWait,
      doc: 'Longest that events wait for a batch to fill.',
    }),
    ThrottleEnable: setting({
      ...named('batch-throttle-enable'),
      type: bool,
      default: defaults.throttle,
      doc: 'Bounds how many batches leave per second.',
    }),
    ThrottlePerSecond: setting({ ...named('batch-throttle-qps'), type: count, default: defaults.perSecond, doc: 'Batches per second.' }),
    ThrottleBurst: setting({
      ...named('batch-throttle-burst'),
      type: count,
      default: defaults.burst,
      doc: 'Batches that may leave at once after a pause.',
    }),
  })
}

function truncateSettings<const B extends 'log' | 'webhook'>(backend: B) {
  const named = namer(backend)
  return prefixed(backend, {
    TruncateEnabled: setting({
      ...named('truncate-enabled'),
      type: bool,
      default: 'false',
      doc: 'Events that are too large lose their bodies; batches that are too large are divided.',
    }),
    TruncateBatchBytesMax: setting({ ...named('truncate-max-batch-size'), type: positive, default: '10485760', doc: 'Bytes of a batch.' }),
    TruncateEventBytesMax: setting({ ...named('truncate-max-event-size'), type: positive, default: '102400', doc: 'Bytes of an event.' }),
  })
}

function namer(backend: 'log' | 'webhook') {
  return (name: string) => ({
    flag: `--audit-${backend}-${name}` as const,
    env: `ORCH_AUDIT_${backend.toUpperCase()}_${name.toUpperCase().replaceAll('-', '_')}`,
    group,
  })
}

type Prefixed<B extends string, S> = { [K in keyof S & string as `audit${Capitalize<B>}${K}`]: S[K] }

function prefixed<const B extends 'log' | 'webhook', S extends object>(backend: B, settings: S): Prefixed<B, S> {
  const prefix = backend === 'log' ? 'auditLog' : 'auditWebhook'
  // The keys are those that the type spells out.
  return Object.fromEntries(Object.entries(settings).map(([name, one]) => [`${prefix}${name}`, one])) as Prefixed<B, S>
}
