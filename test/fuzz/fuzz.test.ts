import { seed } from '@orch/testkit/chance'
import { start } from 'orch'
import { describe, expect, onTestFinished, test } from 'vitest'
import { judge } from './judge.ts'
import { createDraw, type DrawnRequest } from './requests.ts'
import { run } from './run.ts'

/** `npm run fuzz` sends any number of requests. */
const count = 600

test.each(['orch', 'kubernetes'] as const)(
  'LIM-12: any request in profile %s gets an answer other than a server error, and the server continues',
  async (profile) => {
    const server = await start({ controllers: [], profile })
    onTestFinished(() => server.stop())
    const { byStatus, faults } = await run({ kubeconfig: server.kubeconfig, draw: createDraw(profile), seed, from: 0, count, atOnce: 8 })
    expect(faults.map(({ index, request, answer }) => `#${index} ${request.method} ${request.target} → ${answer}`)).toEqual([])
    // The requests reach the handlers and not only the parser.
    expect((byStatus.get(200) ?? 0) + (byStatus.get(201) ?? 0)).toBeGreaterThan(count / 40)
    expect(byStatus.get(422) ?? 0).toBeGreaterThan(count / 40)
    const ready = await server.client.transport.send({ method: 'GET', path: '/readyz', headers: {} })
    expect(ready.status).toBe(200)
    for await (const _ of ready.body);
  },
  120_000,
)

describe('the judgement of an answer', () => {
  const request = (target: string): DrawnRequest => ({ method: 'GET', target, headers: {}, body: undefined })
  test.each([
    ['/api/v1/pods', 422, '', 'fine'],
    ['/api/v1/pods', 500, 'Internal error', 'fault'],
    ['/api/v1/pods', 503, 'unavailable', 'fault'],
    ['/api/v1/pods', 504, 'timeout', 'fault'],
    ['/api/v1/pods', 504, 'Too large resource version: 9', 'excused'],
    ['/api/v1/pods', 500, 'etcdserver: request is too large', 'excused'],
    ['/api/v1/namespaces/default/services/a/proxy/x', 503, '', 'excused'],
    ['/api/v1/nodes/proxy', 500, '', 'fault'],
  ])('LIM-12: to %s with the code %i and the text "%s" is: %s', (target, status, text, expected) => {
    expect(judge(request(target), { status, text }).kind).toBe(expected)
  })
})

test('a seed and an index draw the same request each time', () => {
  const draw = createDraw('orch')
  expect(Array.from({ length: 50 }, (_, index) => draw(7, index))).toEqual(Array.from({ length: 50 }, (_, index) => draw(7, index)))
  expect(draw(7, 1)).not.toEqual(draw(8, 1))
})
