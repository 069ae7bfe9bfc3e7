import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { silentLog } from '@orch/platform'
import { createFakeClock } from '@orch/testkit'
import { expect, onTestFinished, test } from 'vitest'
import type { AuditEvent } from './event.ts'
import { createAuditLog } from './log-file.ts'

const anEvent: AuditEvent = {
  kind: 'Event',
  apiVersion: 'audit.orch.io/v1',
  level: 'Metadata',
  auditID: 'a',
  stage: 'ResponseComplete',
  requestURI: '/',
  verb: 'get',
  user: {},
  requestReceivedTimestamp: '',
  stageTimestamp: '',
}

function aLog() {
  const folder = mkdtempSync(join(tmpdir(), 'audit-log-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const kept = { sizeMegabytesMax: 0, ageDaysMax: 0, filesMax: 0, compress: false }
  const path = join(folder, 'audit.log')
  return { folder, path, log: createAuditLog({ path, format: 'json', ...kept, clock: createFakeClock(), log: silentLog }) }
}

test('AUDIT-08: each event is a line of the file, which is created with the first event', async () => {
  const { folder, path, log } = aLog()
  expect(readdirSync(folder)).toEqual([])
  await log.deliver([anEvent, { ...anEvent, auditID: 'b' }])
  await log.close()
  const lines = readFileSync(path, 'utf8').split('\n')
  expect(lines.map((line) => (line === '' ? line : JSON.parse(line).auditID))).toEqual(['a', 'b', ''])
})

test.each([
  ['before any event', 0],
  ['after one', 1],
])('AUDIT-08: an event after the log was closed %s is refused, and opens no file', async (_when, before) => {
  const { folder, path, log } = aLog()
  for (let count = 0; count < before; count++) await log.deliver([anEvent])
  await log.close()
  for (const _twice of [1, 2]) await expect(log.deliver([anEvent])).rejects.toThrow('the audit log is closed')
  expect(readdirSync(folder)).toEqual(before === 0 ? [] : ['audit.log'])
  if (before > 0) expect(readFileSync(path, 'utf8').match(/\n/g)).toHaveLength(before)
})
