import type { LoggedRequest } from '@orch/core/contracts'
import { createFakeClock } from '@orch/testkit'
import { expect, test } from 'vitest'
import type { GatewayRequest } from './request.ts'
import { parseRequestInfo } from './request-info.ts'
import { printRequests, RequestLog } from './request-log.ts'
import { compileMatch } from './request-match.ts'

type Asked = Pick<GatewayRequest, 'method' | 'path' | 'user' | 'code' | 'revision' | 'writtenName' | 'hasChanged' | 'isNoop' | 'fault'> & {
  readonly exchange: Pick<GatewayRequest['exchange'], 'header' | 'target' | 'peer'>
  logged: number
}

function aRequest(path: string, facts: Partial<Asked> = {}): GatewayRequest {
  const user = { name: 'operator', uid: '', groups: [], extra: {} }
  const exchange = { header: () => 'manager/v1', target: path, peer: { kind: 'unknown' } as const }
  const none = { code: 200, revision: 0, writtenName: '', hasChanged: false, isNoop: false, fault: '', logged: -1 }
  const asked: Asked = { method: 'GET', path, user, exchange, ...none, ...facts }
  return asked as unknown as GatewayRequest
}

const namesIn = (entries: readonly LoggedRequest[]) => entries.map(({ name }) => name)

test('a full log drops its oldest request for a new request', () => {
  const log = new RequestLog(createFakeClock(), { max: 3 })
  for (const name of ['a', 'b', 'c', 'd', 'e']) log.note(aRequest(`/api/v1/namespaces/x/pods/${name}`), 1)
  expect(namesIn(log.read())).toEqual(['c', 'd', 'e'])
  log.clear()
  log.note(aRequest('/api/v1/namespaces/x/pods/f'), 1)
  expect(namesIn(log.read())).toEqual(['f'])
})

test('a watch that ends completes its own entry, and no entry that has replaced it', () => {
  const log = new RequestLog(createFakeClock(), { max: 2 })
  const [first, second] = [aRequest('/api/v1/pods'), aRequest('/api/v1/nodes')]
  log.noteWatch(first)
  log.noteWatch(second)
  log.note(second, 20)
  expect(log.read().map(({ watch, durationMs }) => [watch, durationMs])).toEqual([
    [1, undefined],
    [2, 20],
  ])
  log.note(aRequest('/readyz'), 1)
  log.note(first, 30)
  expect(log.read().map(({ verb, resource, durationMs }) => [verb, resource, durationMs])).toEqual([
    ['watch', 'nodes', 20],
    ['get', '', 1],
  ])
})

test('the time of a request is its arrival', () => {
  const clock = createFakeClock()
  const log = new RequestLog(clock)
  log.note(aRequest('/readyz'), 40)
  expect(log.read()[0]?.time).toBe(clock.now() - 40)
})

test('long paths and agents are cut', () => {
  const log = new RequestLog(createFakeClock())
  const path = `/${'x'.repeat(5_000)}`
  log.note(aRequest(path, { exchange: { header: () => 'y'.repeat(5_000), target: path, peer: { kind: 'unknown' } as const } }), 1)
  expect(log.read().map((entry) => [entry.path.length, entry.agent.length])).toEqual([[1_000, 1_000]])
})

test('requests are matched by each member, and by all members together', () => {
  const info = parseRequestInfo({ method: 'PUT', path: '/apis/apps/v1/namespaces/x/deployments/web/status', isWatch: false })
  const facts = { user: 'operator', agent: 'manager/v1', info }
  const path = { ...facts, info: parseRequestInfo({ method: 'GET', path: '/readyz', isWatch: false }) }
  const good = [
    {},
    { user: 'operator' },
    { agent: /^manager/ },
    { verb: 'update' },
    { verb: ['patch', 'update'] },
    { resource: 'deployments' },
    { resource: 'deployments.apps' },
    { subresource: 'status' },
    { namespace: /x|y/g },
    { name: 'web' },
  ]
  const bad = [
    { user: 'other' },
    { agent: 'manager' },
    { verb: 'get' },
    { resource: 'deployments.extensions' },
    { resource: 'pods' },
    { subresource: '' },
    { namespace: 'y' },
    { name: /^a/ },
    { path: /./ },
  ]
  for (const match of good) for (let twice = 0; twice < 2; twice += 1) expect([match, compileMatch(match)(facts)]).toEqual([match, true])
  for (const match of bad) expect([match, compileMatch(match)(facts)]).toEqual([match, false])
  expect(compileMatch(Object.assign({}, ...good))(facts)).toBe(true)
  expect(compileMatch({ path: '/readyz', verb: 'get' })(path)).toBe(true)
  expect(compileMatch({ resource: 'pods' })(path)).toBe(false)
})

test('a table of requests names watches, faults and paths', () => {
  const log = new RequestLog(createFakeClock())
  log.noteWatch(aRequest('/apis/apps/v1/deployments'))
  log.note(aRequest('/readyz', { fault: 'storm', code: 0 }), 1)
  const rows = printRequests(log.read()).split('\n')
  expect(rows.map((row) => row.replace(/^\S+ +/, '').replace(/ +/g, ' '))).toEqual([
    'operator watch deployments.apps 200 watch 1 (open)',
    'operator get /readyz - fault storm',
    '',
  ])
})
