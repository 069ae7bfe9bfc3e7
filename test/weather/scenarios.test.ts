import { aConfigMap } from '@orch/testkit'
import { type RunningServer, type ServerUser, start, virtualClock } from 'orch'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'

const configMaps = { group: '', version: 'v1', plural: 'configmaps', namespaced: true }
const inDefault = { namespace: 'default' }
const clock = virtualClock()
let server: RunningServer
let operator: ServerUser

beforeAll(async () => {
  server = await start({ clock, profile: 'kubernetes' })
  operator = server.user('operator')
})
beforeEach(() => server.reset())
afterAll(() => server.stop())

const maps = () => operator.client.resource(configMaps)
const outcomeOf = (sent: Promise<unknown>): Promise<number | string> =>
  sent.then(
    () => 200,
    (error: { readonly code?: number | string }) => error.code ?? 'broken',
  )
const outcomes = async (count: number) => {
  const found = []
  for (let left = count; left > 0; left -= 1) found.push(await outcomeOf(maps().list(inDefault)))
  return found
}

test('a restart of the API server ends watches and connections, for a given time', async () => {
  const watch = await maps().watch(inDefault)
  const next = watch.next()
  operator.scenarios.apiServerRestart()
  await expect(next).rejects.toThrow()
  const [first, second] = await outcomes(2)
  expect(first).not.toBe(200)
  expect(second).toBe(200)
  operator.scenarios.apiServerRestart('10s')
  expect(await outcomes(2)).not.toContain(200)
  await clock.advance('10s')
  expect(await outcomes(1)).toEqual([200])
})

test('a storm of conflicts refuses the given number of updates', async () => {
  let object = await maps().create(aConfigMap({ name: 'a' }))
  const storm = operator.scenarios.conflictStorm(2)
  const codes = []
  for (let count = 0; count < 3; count += 1) {
    codes.push(await outcomeOf(maps().update({ ...object, data: { count: String(count) } })))
    object = await maps().get('a', inDefault)
  }
  expect([codes, storm.hits]).toEqual([[409, 409, 200], 2])
})

test('a quiet watch stays open and still delivers changes', async () => {
  const watch = await maps().watch({ ...inDefault, timeoutSeconds: 3_600 })
  using _quiet = operator.scenarios.quietWatch('6m')
  await server.client.objects.create(aConfigMap({ name: 'a' }))
  let hasEvent = false
  const next = watch.next().then(({ value }) => {
    hasEvent = true
    return value
  })
  await clock.advance('5m')
  expect(hasEvent).toBe(false)
  await clock.advance('1m')
  expect(await next).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'a' } } })
  await watch.return()
})

test('a stolen lease has another holder, and the former holder cannot take it back', async () => {
  const metadata = { name: 'leader', namespace: 'default' }
  const spec = { holderIdentity: 'operator', leaseDurationSeconds: 15 }
  const reference = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' }
  await operator.client.objects.create({ ...reference, metadata, spec })
  const lost = await operator.scenarios.losesLease(metadata, 'somebody')
  const held = await operator.client.objects.get({ ...reference, ...metadata })
  expect(held).toMatchObject({ spec: { holderIdentity: 'somebody', leaseDurationSeconds: 15 } })
  expect(await outcomeOf(operator.client.objects.update({ ...held, spec }))).toBe(409)
  lost.end()
  expect(await outcomeOf(operator.client.objects.update({ ...held, spec }))).toBe(200)
})

test('a throttled client gets 429 beyond its rate, per second of the server clock', async () => {
  using _throttled = operator.scenarios.throttled(2)
  expect(await outcomes(4)).toEqual([200, 200, 429, 429])
  await clock.advance('1s')
  expect(await outcomes(3)).toEqual([200, 200, 429])
})

test('a flaky network is equal for one seed, and differs for other seeds', async () => {
  const run = async (seed: number) => {
    using _flaky = operator.scenarios.flakyNetwork(seed)
    const found = await outcomes(40)
    return found.map((outcome) => (typeof outcome === 'number' ? outcome : 'broken'))
  }
  const first = await run(1)
  expect(await run(1)).toEqual(first)
  expect(await run(2)).not.toEqual(first)
  expect(new Set(first)).toEqual(new Set([200, 503, 'broken']))
})
