import { expect, test } from 'vitest'
import type { ApiObject } from '../meta/object-meta.ts'
import { namesOf } from '../names.ts'
import { decideUnusedToken, mayUseSecret, trackedFromMs, usedDay, withTrackingDay } from './unused-tokens.ts'

const names = namesOf('kubernetes')
const [lastUsed, invalidSince] = ['kubernetes.io/legacy-token-last-used', 'kubernetes.io/legacy-token-invalid-since']
const periodMs = 365 * 24 * 3_600_000

const aSecret = (labels: Record<string, string> = {}, more: object = {}): ApiObject => ({
  ...{ apiVersion: 'v1', kind: 'Secret' },
  metadata: { name: 's', creationTimestamp: '2025-01-05T10:00:00Z', labels, ...more },
})

const used = { [lastUsed]: '2025-03-01' }
const cases: readonly [string, ApiObject, string, string][] = [
  ['younger than the period', aSecret(), '2026-01-05T10:00:00Z', 'wait 2026-01-05T10:00:00.001Z'],
  ['unused since its creation', aSecret(), '2026-01-05T10:00:00.001Z', 'mark 2026-01-05'],
  ['used within the period', aSecret(used), '2026-03-01T23:59:59Z', 'wait 2026-03-02T00:00:00.000Z'],
  ['unused for the period', aSecret(used), '2026-03-02T00:00:00Z', 'mark 2026-03-02'],
  ['marked a short time ago', aSecret({ ...used, [invalidSince]: '2026-03-02' }), '2027-03-02T23:59:59Z', 'wait 2027-03-03T00:00:00.000Z'],
  ['marked before the period', aSecret({ ...used, [invalidSince]: '2026-03-02' }), '2027-03-03T00:00:00Z', 'delete'],
  ['marked with a text that is no day', aSecret({ ...used, [invalidSince]: '2026-02-30' }), '2027-03-03T00:00:00Z', 'mark 2027-03-03'],
  ['used at a time that is no day', aSecret({ [lastUsed]: 'yesterday' }), '2030-01-01T00:00:00Z', 'wait'],
  ['being deleted', aSecret({}, { deletionTimestamp: '2026-01-01T00:00:00Z' }), '2030-01-01T00:00:00Z', 'wait'],
]

test.each(cases)('WL-SA-01: the Secret of a token that is %s', (_, secret, now, expected) => {
  const step = decideUnusedToken(secret, names, { nowMs: Date.parse(now), periodMs })
  const until = step.kind === 'wait' && Number.isFinite(step.untilMs) ? ` ${new Date(step.untilMs).toISOString()}` : ''
  expect(`${step.kind}${step.kind === 'mark' ? ` ${step.day}` : until}`).toBe(expected)
})

test('WL-SA-01: the day of a use is noted once, and the day after it counts as noted', () => {
  const nowMs = Date.parse('2026-11-29T23:59:00Z')
  expect(usedDay(aSecret(), names, nowMs)).toBe('2026-11-29')
  expect(usedDay(aSecret({ [lastUsed]: '2026-11-28' }), names, nowMs)).toBe('2026-11-29')
  for (const day of ['2026-11-29', '2026-11-30']) expect(usedDay(aSecret({ [lastUsed]: day }), names, nowMs)).toBeUndefined()
})

test('WL-SA-01: tokens without a noted use count as unused from a period after the day in the ConfigMap', () => {
  const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'm' } }
  const nowMs = Date.parse('2026-11-29T12:00:00Z')
  expect(trackedFromMs(map, periodMs)).toBeUndefined()
  expect(trackedFromMs({ ...map, data: { since: '2026-11-29' } }, periodMs)).toBe(Date.parse('2027-11-30'))
  expect(withTrackingDay({ ...map, data: { since: 'x', other: 'y' } }, nowMs)).toMatchObject({ data: { since: '2026-11-29', other: 'y' } })
  expect(withTrackingDay({ ...map, data: { since: '2020-01-01' } }, nowMs)).toBeUndefined()
})

test('WL-SA-01: a Pod whose specification has the name of a Secret may use it', () => {
  const pod = (spec: object) => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec })
  expect(mayUseSecret(pod({ volumes: [{ name: 'v', secret: { secretName: 's' } }] }), 's')).toBe(true)
  expect(mayUseSecret(pod({ imagePullSecrets: [{ name: 's' }] }), 's')).toBe(true)
  expect(mayUseSecret(pod({ volumes: [{ name: 'v', secret: { secretName: 's2' } }] }), 's')).toBe(false)
})
