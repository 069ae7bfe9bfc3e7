import { failed, notFound } from '@orch/core/meta'
import { namesOf } from '@orch/core/names'
import { silentLog, systemChance } from '@orch/platform'
import { createFakeClock } from '@orch/testkit'
import { expect, test } from 'vitest'
import { InProcessExchange } from '../exchange/in-process.ts'
import { createDraws } from '../request/draws.ts'
import { createNegotiator } from '../request/negotiate.ts'
import { GatewayRequest } from '../request/request.ts'
import { respondError } from '../request/respond.ts'
import { createAuditor } from './auditor.ts'
import type { AuditEvent } from './event.ts'
import { parseAuditPolicy } from './policy.ts'

const names = namesOf('orch')

/** The events of a request that ends with an error. */
async function eventsOf(error: unknown, policy: object = { rules: [{ level: 'RequestResponse' }] }): Promise<AuditEvent[]> {
  const reading = parseAuditPolicy(JSON.stringify({ apiVersion: 'audit.orch.io/v1', kind: 'Policy', ...policy }), names)
  if (reading.kind === 'refused') throw new Error(reading.problems.join('; '))
  const events: AuditEvent[] = []
  const auditor = createAuditor({
    level: 25,
    policy: reading.policy,
    sinks: [{ take: (event) => void events.push(event), room: () => undefined, close: async () => {} }],
    names,
    clock: createFakeClock(),
    log: silentLog,
    metrics: { event() {}, level() {}, lost() {}, rejected() {} },
  })
  const request = new GatewayRequest(
    new InProcessExchange({ method: 'GET', path: '/api/v1/nodes/n', headers: {} }, { kind: 'unknown' }),
    0,
    {
      requestTimeoutMs: 1_000,
      pathPrefix: '',
      negotiator: createNegotiator(names),
      draws: createDraws(systemChance),
      isAudited: true,
    },
  )
  await auditor.begin(request)
  await respondError(request, error, names)
  request.audit?.responseComplete()
  await auditor.close()
  return events
}

test('AUDIT-08: an unexpected error ends in the stage Panic, and its event has only the message for the client', async () => {
  const events = await eventsOf(new TypeError('secret thing is undefined'))
  expect(events.map(({ stage }) => stage)).toEqual(['RequestReceived', 'Panic'])
  expect(events[1]?.responseStatus).toEqual({
    metadata: {},
    status: 'Failure',
    message: 'the server has failed',
    reason: 'InternalError',
    code: 500,
  })
  expect(JSON.stringify(events)).not.toContain('secret thing')
})

test('AUDIT-08: a refusal is not in the stage Panic, even with code 500', async () => {
  for (const error of [notFound({ group: '', resource: 'nodes' }, 'n'), failed(500, 'InternalError', 'storage is unavailable')]) {
    expect((await eventsOf(error)).map(({ stage }) => stage)).toEqual(['RequestReceived', 'ResponseComplete'])
  }
})

test('AUDIT-08: the stage Panic may be omitted like any other', async () => {
  const events = await eventsOf(new TypeError('x'), { rules: [{ level: 'Metadata', omitStages: ['Panic'] }] })
  expect(events.map(({ stage }) => stage)).toEqual(['RequestReceived'])
})
