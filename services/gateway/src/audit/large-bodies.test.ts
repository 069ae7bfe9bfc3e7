import { printJson } from '@orch/core/json'
import { type Names, namesOf } from '@orch/core/names'
import { silentLog, systemChance } from '@orch/platform'
import { createFakeClock } from '@orch/testkit'
import { expect, test } from 'vitest'
import { InProcessExchange } from '../exchange/in-process.ts'
import { limits } from '../limits.ts'
import { createDraws } from '../request/draws.ts'
import { createNegotiator } from '../request/negotiate.ts'
import { GatewayRequest } from '../request/request.ts'
import type { AuditBodyAnswer, AuditBodyJob } from '../texts/jobs.ts'
import { doAuditBodyJob, readBody } from '../texts/read-body.ts'
import type { TextThread } from '../texts/text-thread.ts'
import { createAuditor } from './auditor.ts'
import { type AuditEvent, PrintedObject } from './event.ts'
import { parseAuditPolicy } from './policy.ts'
import { inPieces, pieceBytes, printAuditEvent } from './print-event.ts'

const names: Names = namesOf('orch')
const large = Buffer.from(JSON.stringify({ metadata: { name: 'big' }, data: { text: 'x'.repeat(limits.largeBytesMin) } }))
const turn = () => new Promise((resolve) => setImmediate(resolve))

/** A thread that does a job when the test says so. */
function aThread() {
  const jobs: { job: AuditBodyJob; resolve(answer: AuditBodyAnswer): void; reject(error: Error): void }[] = []
  const thread = {
    do: (job: AuditBodyJob) => new Promise<AuditBodyAnswer>((resolve, reject) => jobs.push({ job, resolve, reject })),
    async close() {
      for (const { reject } of jobs) reject(new Error('the server is stopping'))
    },
  }
  return { thread: thread as unknown as TextThread, jobs }
}

function anAuditor(level: string) {
  const reading = parseAuditPolicy(JSON.stringify({ apiVersion: 'audit.orch.io/v1', kind: 'Policy', rules: [{ level }] }), names)
  if (reading.kind === 'refused') throw new Error(reading.problems.join('; '))
  const events: AuditEvent[] = []
  const { thread, jobs } = aThread()
  const clock = createFakeClock()
  const auditor = createAuditor({
    level: 25,
    policy: reading.policy,
    sinks: [{ take: (event) => void events.push(event), room: () => undefined, close: async () => {} }],
    names,
    clock,
    log: silentLog,
    metrics: { event() {}, level() {}, lost() {}, rejected() {} },
    thread,
  })
  const begin = async (path: string, body?: Uint8Array) => {
    const exchange = new InProcessExchange({ method: 'POST', path, headers: {} }, { kind: 'unknown' })
    const request = new GatewayRequest(exchange, 0, {
      requestTimeoutMs: 1_000,
      pathPrefix: '',
      negotiator: createNegotiator(names),
      draws: createDraws(systemChance),
    })
    await auditor.begin(request)
    request.code = 201
    if (body !== undefined) request.audit?.takeBody('application/json', body)
    return request
  }
  const told = () => events.map(({ requestURI, stage }) => `${requestURI} ${stage}`)
  return { auditor, begin, jobs, events, told, clock }
}

test('AUDIT-08, LIM-12: large bodies are parsed in the thread; events of other requests are written meanwhile, each in order', async () => {
  const { begin, jobs, events, told } = anAuditor('Request')
  const first = await begin('/api/v1/nodes', large)
  first.audit?.responseStarted()
  first.audit?.responseComplete()
  const second = await begin('/api/v1/pods')
  second.audit?.responseComplete()
  expect(jobs.map(({ job }) => job.bytes.length)).toEqual([large.length, large.length])
  expect(told()).toEqual(['/api/v1/nodes RequestReceived', '/api/v1/pods RequestReceived', '/api/v1/pods ResponseComplete'])
  for (const { job, resolve } of jobs) resolve(doAuditBodyJob(job))
  await turn()
  expect(told().slice(3)).toEqual(['/api/v1/nodes ResponseStarted', '/api/v1/nodes ResponseComplete'])
  const event = events[3] as AuditEvent
  expect(event.objectRef).toMatchObject({ resource: 'nodes', name: 'big' })
  expect(JSON.parse(printAuditEvent(event).toString()).requestObject).toEqual(JSON.parse(large.toString()))
})

test('AUDIT-08: an auditor that closes waits for the parsing of bodies', async () => {
  const { auditor, begin, jobs, told } = anAuditor('Request')
  const request = await begin('/api/v1/nodes', large)
  request.audit?.responseComplete()
  const closed = auditor.close()
  await turn()
  expect(told()).toEqual(['/api/v1/nodes RequestReceived'])
  for (const { job, resolve } of jobs) resolve(doAuditBodyJob(job))
  await closed
  expect(told()).toEqual(['/api/v1/nodes RequestReceived', '/api/v1/nodes ResponseComplete'])
})

test('AUDIT-08: an event whose body takes too long to parse at the end is written without the body, with an annotation', async () => {
  const { auditor, begin, events, clock } = anAuditor('Request')
  const request = await begin('/api/v1/nodes', large)
  request.audit?.responseComplete()
  const closed = auditor.close()
  clock.advance(limits.auditClosingMs)
  await closed
  expect(events[1]).toMatchObject({ stage: 'ResponseComplete', annotations: { 'audit.orch.io/truncated': 'true' } })
  expect(events[1]?.requestObject).toBeUndefined()
})

test('AUDIT-08, LIM-12: at level Metadata the thread returns only the namespace and name of an object', async () => {
  const { begin, jobs, events } = anAuditor('Metadata')
  const request = await begin('/api/v1/nodes', large)
  request.audit?.responseComplete()
  for (const { job, resolve } of jobs) {
    const answer = doAuditBodyJob(job)
    expect(answer).toEqual({ kind: 'auditBody', metadata: { name: 'big', namespace: '', uid: '', resourceVersion: '' } })
    resolve(answer)
  }
  await turn()
  expect(events[1]?.objectRef).toMatchObject({ name: 'big' })
})

test('LIM-12: requests wait while too many bytes of bodies wait to be parsed', async () => {
  const { begin, jobs } = anAuditor('Request')
  const huge = Buffer.alloc(limits.auditWaitingBytesMax, 0x20)
  const request = await begin('/api/v1/nodes', huge)
  request.audit?.responseComplete()
  let hasBegun = false
  const next = begin('/api/v1/pods').then(() => {
    hasBegun = true
  })
  await turn()
  expect(hasBegun).toBe(false)
  jobs[0]?.resolve({ kind: 'auditBody', metadata: undefined })
  await next
  expect(hasBegun).toBe(true)
})

const reviewed = { apiVersion: 'authentication.orch.io/v1', kind: 'TokenReview', spec: { token: 'secret' } }
test.each([
  ['JSON', 'application/json', '{"metadata":{"name":"a","managedFields":[{}]},"big":9007199254740993,"a":1,"a":2}'],
  [
    'YAML',
    'application/yaml',
    'metadata: {name: a, managedFields: [{}]}\nbig: 9007199254740993\nitems: [{metadata: {managedFields: []}}]\n',
  ],
  ['a token', 'application/json', JSON.stringify(reviewed)],
  ['what is no object', 'application/json', '[1'],
  ['nothing', 'application/json', ''],
])('AUDIT-08: the thread parses %s like the main thread', (_, contentType, text) => {
  const reading = { contentType, level: 25, omitManagedFields: true, withholdsTokens: text.includes('secret') }
  const bytes = Buffer.from(text)
  const here = readBody(bytes, reading, names)
  const answer = doAuditBodyJob({ kind: 'auditBody', bytes, profile: 'orch', reading, isPrinted: true })
  if (answer.kind === 'failed') throw answer.error
  expect(answer.metadata).toEqual(here?.metadata)
  const there = answer.bytes === undefined ? undefined : Buffer.from(answer.bytes).toString()
  expect(there).toEqual(here === undefined ? undefined : printJson(here.object, { hasBigIntegers: true }))
  expect(there ?? '').not.toContain('secret')
})

const anEvent = (more: object): AuditEvent => ({
  kind: 'Event',
  apiVersion: 'audit.orch.io/v1',
  level: 'RequestResponse',
  auditID: 'x',
  stage: 'ResponseComplete',
  requestURI: '/',
  verb: 'get',
  user: {},
  ...more,
  requestReceivedTimestamp: '1',
  stageTimestamp: '2',
})

test.each([{}, { annotations: { a: 'b' } }])(
  'an event built around printed objects has the text of an event built around objects: %j',
  (more) => {
    const printed = (value: unknown) => new PrintedObject(Buffer.from(JSON.stringify(value)))
    const [sent, answered] = [{ a: 1 }, { b: ['"'] }]
    for (const [requestObject, responseObject] of [
      [printed(sent), printed(answered)],
      [sent, printed(answered)],
      [printed(sent), undefined],
    ]) {
      const whole = anEvent({ requestObject: sent, ...(responseObject === undefined ? {} : { responseObject: answered }) })
      const event = anEvent({ requestObject, ...(responseObject === undefined ? {} : { responseObject }) })
      expect(printAuditEvent({ ...event, ...more }).toString()).toBe(JSON.stringify({ ...whole, ...more }))
    }
  },
)

test('LIM-12: events are printed in order, in pieces of about the same size', () => {
  const events = Array.from({ length: 40 }, (_, index) => anEvent({ auditID: `${index}`, requestObject: 'x'.repeat(pieceBytes / 8) }))
  let printed = 0
  const counts: number[] = []
  const pieces: Buffer[] = []
  for (const piece of inPieces(events, (event) => {
    printed += 1
    return printAuditEvent(event)
  })) {
    counts.push(printed)
    pieces.push(piece)
    printed = 0
  }
  expect(counts).toEqual([8, 8, 8, 8, 8])
  expect(Buffer.concat(pieces).toString()).toBe(events.map((event) => JSON.stringify(event)).join(''))
})
