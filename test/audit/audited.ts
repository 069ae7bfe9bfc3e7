import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { StartOptions } from 'orch'
import { onTestFinished } from 'vitest'
import { openApi } from '../api/api.ts'

/** An audit event as the server wrote it. */
export interface WrittenEvent {
  readonly level: string
  readonly stage: string
  readonly auditID: string
  readonly verb: string
  readonly requestURI: string
  readonly user: { readonly username?: string; readonly groups?: readonly string[] }
  readonly objectRef?: Readonly<Record<string, string>>
  readonly responseStatus?: Readonly<Record<string, unknown>>
  readonly requestObject?: Readonly<Record<string, unknown>>
  readonly responseObject?: Readonly<Record<string, unknown>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly [field: string]: unknown
}

/** A folder that the test removes at its end. */
export function aFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'audit-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** A policy in YAML whose rules are given as JSON. */
export function aPolicy(rules: readonly object[], more: object = {}): string {
  return JSON.stringify({ apiVersion: 'audit.orch.io/v1', kind: 'Policy', ...more, rules })
}

/** A server that audits requests as the policy says. */
export async function anAuditedApi(policy: string, { flags = [], ...options }: StartOptions = {}) {
  const folder = aFolder()
  const policyFile = join(folder, 'policy.yaml')
  const logFile = join(folder, 'audit.log')
  writeFileSync(policyFile, policy)
  const api = await openApi({ ...options, flags: [`--audit-policy-file=${policyFile}`, `--audit-log-path=${logFile}`, ...flags] })
  let isStopped = false
  const stop = async () => {
    if (isStopped) return
    isStopped = true
    await api.stop()
  }
  onTestFinished(stop)
  return {
    api,
    logFile,
    folder,
    /** Stops the server, which first delivers the waiting events, and reads all written events. */
    async events() {
      await stop()
      return readEvents(readFileSync(logFile, 'utf8'))
    },
  }
}

export function readEvents(text: string): WrittenEvent[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as WrittenEvent)
}
