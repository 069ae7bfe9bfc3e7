import { domainGroup, namesOf, type Profile } from '@orch/core/names'
import { SettingsError, type Values } from '@orch/platform'
import { readFlagFile } from '../configuration/flag-files.ts'
import type { auditSettings } from './settings.ts'

type AuditValues = Values<typeof auditSettings> & { readonly profile: Profile }

/** How a gateway writes down requests. */
export interface AuditOptions {
  readonly policyFile: string
  /** The policy as it stands in its file. */
  readonly policy: string
  readonly log: AuditLogSettings | undefined
  readonly webhook: (AuditBackend & { readonly configFile: string }) | undefined
}

/** A file, with the rules of its rotation. */
interface AuditLogSettings extends AuditBackend {
  readonly path: string
  readonly format: 'json' | 'legacy'
  readonly sizeMegabytesMax: number
  readonly ageDaysMax: number
  readonly filesMax: number
  readonly compress: boolean
}

/** Settings of every backend. */
export interface AuditBackend {
  readonly mode: 'batch' | 'blocking' | 'blocking-strict'
  readonly batch: {
    readonly bufferEventsMax: number
    readonly batchEventsMax: number
    readonly waitMs: number
    readonly throttle: { readonly perSecond: number; readonly burst: number } | undefined
    readonly backoffMs: number
  }
  readonly truncate: { readonly eventBytesMax: number; readonly batchBytesMax: number } | undefined
}

/** Pause before a file is tried again: a full disk is not empty at once. */
const fileBackoffMs = 1_000

/** Checks that the settings go together and reads the policy. Without a policy nothing is written down. */
export function readAudit(settings: AuditValues): AuditOptions | undefined {
  const { auditPolicyFile, auditLogPath, auditWebhookConfigFile, profile } = settings
  checkVersion('--audit-log-version', settings.auditLogVersion, profile)
  checkVersion('--audit-webhook-version', settings.auditWebhookVersion, profile)
  if (auditPolicyFile === '') {
    if (auditLogPath !== '') throw new SettingsError('--audit-log-path needs --audit-policy-file, which decides what is written')
    if (auditWebhookConfigFile === '') return undefined
    throw new SettingsError('--audit-webhook-config-file needs --audit-policy-file, which decides what is sent')
  }
  if (auditLogPath === '' && auditWebhookConfigFile === '') {
    throw new SettingsError('--audit-policy-file needs --audit-log-path or --audit-webhook-config-file')
  }
  return {
    policyFile: auditPolicyFile,
    policy: readFlagFile('--audit-policy-file', auditPolicyFile),
    log: auditLogPath === '' ? undefined : readLog(settings),
    webhook: auditWebhookConfigFile === '' ? undefined : readWebhook(settings),
  }
}

function checkVersion(flag: string, version: string, profile: Profile): void {
  const only = `${domainGroup(namesOf(profile), 'audit')}/v1`
  if (version !== '' && version !== only) throw new SettingsError(`${flag}=${version}: must be ${only}`)
}

function readLog(settings: AuditValues): AuditLogSettings {
  return {
    path: settings.auditLogPath,
    format: settings.auditLogFormat,
    sizeMegabytesMax: settings.auditLogMaxSizeMegabytes,
    ageDaysMax: settings.auditLogMaxAgeDays,
    filesMax: settings.auditLogMaxBackup,
    compress: settings.auditLogCompress,
    mode: settings.auditLogMode,
    batch: {
      bufferEventsMax: settings.auditLogBufferEventsMax,
      batchEventsMax: settings.auditLogBatchEventsMax,
      waitMs: settings.auditLogBatchWaitMs,
      throttle: settings.auditLogThrottleEnable
        ? { perSecond: settings.auditLogThrottlePerSecond, burst: settings.auditLogThrottleBurst }
        : undefined,
      backoffMs: fileBackoffMs,
    },
    truncate: settings.auditLogTruncateEnabled
      ? { eventBytesMax: settings.auditLogTruncateEventBytesMax, batchBytesMax: settings.auditLogTruncateBatchBytesMax }
      : undefined,
  }
}

function readWebhook(settings: AuditValues): AuditBackend & { readonly configFile: string } {
  return {
    configFile: settings.auditWebhookConfigFile,
    mode: settings.auditWebhookMode,
    batch: {
      bufferEventsMax: settings.auditWebhookBufferEventsMax,
      batchEventsMax: settings.auditWebhookBatchEventsMax,
      waitMs: settings.auditWebhookBatchWaitMs,
      throttle: settings.auditWebhookThrottleEnable
        ? { perSecond: settings.auditWebhookThrottlePerSecond, burst: settings.auditWebhookThrottleBurst }
        : undefined,
      backoffMs: settings.auditWebhookInitialBackoffMs,
    },
    truncate: settings.auditWebhookTruncateEnabled
      ? { eventBytesMax: settings.auditWebhookTruncateEventBytesMax, batchBytesMax: settings.auditWebhookTruncateBatchBytesMax }
      : undefined,
  }
}
