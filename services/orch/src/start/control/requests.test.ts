import { RequestLog } from '@orch/gateway'
import { createFakeClock } from '@orch/testkit'
import { expect, test } from 'vitest'
import { requestRoutes } from './requests.ts'

type Logged = Parameters<RequestLog['note']>[0]

function aRequest(path: string): Logged {
  const user = { name: 'operator', uid: '', groups: [], extra: {} }
  const exchange = { header: () => 'manager/v1', target: path, peer: { kind: 'unknown' } }
  const none = { code: 200, revision: 0, writtenName: '', hasChanged: false, isNoop: false, fault: '', logged: -1 }
  return { method: 'GET', path, user, exchange, ...none } as unknown as Logged
}

test('LIM-12: a stream of the request log has pages of at most 500 requests, ended watches among them', async () => {
  const log = new RequestLog(createFakeClock())
  const watches = Array.from({ length: 600 }, () => aRequest('/api/v1/pods'))
  for (const watch of watches) log.noteWatch(watch)
  for (let index = 0; index < 600; index++) log.note(aRequest(`/api/v1/nodes/n${index}`), 1)
  const leaving = new AbortController()
  const query = { get: (name: string) => (name === 'watch' ? 'true' : undefined), all: () => [], names: ['watch'], isEmpty: false }
  const call = { method: 'GET', path: '/requests', query, body: undefined, signal: leaving.signal, param: () => '' }
  const answer = await requestRoutes(log)[0]?.handle(call)
  if (answer?.kind !== 'lines') throw new Error('the answer is no stream')
  const pages = answer.lines[Symbol.asyncIterator]()
  const sizeOfNext = async () => (await pages.next()).value?.length
  expect([await sizeOfNext(), await sizeOfNext(), await sizeOfNext()]).toEqual([500, 500, 200])
  for (const watch of watches) log.note(watch, 5)
  expect([await sizeOfNext(), await sizeOfNext()]).toEqual([500, 100])
  leaving.abort()
  expect(await pages.next()).toMatchObject({ done: true })
})
