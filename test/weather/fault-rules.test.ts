import { aConfigMap } from '@orch/testkit'
import { type RunningServer, start } from 'orch'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const rules = { group: 'faults.orch.io', version: 'v1', plural: 'faultrules', namespaced: false }
const configMaps = { group: '', version: 'v1', plural: 'configmaps', namespaced: true }
let server: RunningServer

beforeAll(async () => {
  server = await start({ profile: 'kubernetes', flags: ['--fault-injection'] })
})
afterAll(() => server.stop())

const aRule = (name: string, spec: object) => ({ apiVersion: 'faults.orch.io/v1', kind: 'FaultRule', metadata: { name }, spec })
const maps = () => server.user('operator').client.resource(configMaps)
const named = (name: string) => ({ apiVersion: 'faults.orch.io/v1', kind: 'FaultRule', name })
const inForce = (name: string, hits = 0) => server.eventually(named(name), { status: { hits } }, { within: '60s' })

describe('a FaultRule', () => {
  test('is in effect when its status has a count of hits, and no longer after its deletion', async () => {
    const client = server.client.resource(rules)
    await client.create(aRule('down', { match: { user: 'oper*', verb: ['create'] }, effect: { refuse: { code: 503, message: 'down' } } }))
    await inForce('down')
    for (const name of ['a', 'b']) await expect(maps().create(aConfigMap({ name }))).rejects.toMatchObject({ code: 503, message: 'down' })
    await inForce('down', 2)
    expect(server.requests({ fault: 'down' })).toMatchObject([{ verb: 'create' }, { verb: 'create' }])
    await client.delete('down')
    await server.settled({ within: 60_000 })
    await maps().create(aConfigMap({ name: 'c' }))
  })

  test('restarts its count when it changes, and reports a wrong value in its status', async () => {
    const client = server.client.resource(rules)
    await client.create(aRule('wrong', { effect: { delay: { time: 'soon' } } }))
    const wrong = { status: { hits: 0, problem: 'spec.effect.delay: delay(): soon is not a duration such as 40s or 1h30m' } }
    const stored = await server.eventually(named('wrong'), wrong, { within: '60s' })
    await client.update({ ...aRule('wrong', { match: { name: 'x' }, effect: { cut: {} } }), metadata: stored?.metadata ?? { name: '' } })
    await server.eventually(named('wrong'), (object) => !JSON.stringify(object).includes('"problem"'), { within: '60s' })
    await expect(maps().get('x', { namespace: 'default' })).rejects.not.toMatchObject({ code: 404 })
    await client.delete('wrong')
  })

  test('is refused with the path of an invalid member', async () => {
    const client = server.client.resource(rules)
    const refused: [object, string][] = [
      [{ effect: {} }, 'spec.effect: Invalid value'],
      [{ effect: { hang: {}, cut: {} } }, 'spec.effect: Too many'],
      [{ effect: { refuse: { code: 200 } } }, 'spec.effect.refuse.code'],
      [{ match: {} }, 'spec.effect: Required value'],
      [{ times: 0, effect: { hang: {} } }, 'spec.times'],
      [{ probability: 2, effect: { hang: {} } }, 'spec.probability'],
    ]
    for (const [spec, path] of refused) {
      await expect(client.create(aRule('r', spec))).rejects.toMatchObject({ code: 422, message: expect.stringContaining(path) })
    }
  })

  test('that applies to every request can still be deleted', async () => {
    const client = server.client.resource(rules)
    await client.create(aRule('all', { match: { user: '*' }, effect: { refuse: { code: 500 } } }))
    const statusOf = async () => JSON.stringify(await client.get('all'))
    await expect.poll(statusOf, { timeout: 60_000 }).toContain('"hits":')
    await expect(maps().list({ namespace: 'default' })).rejects.toMatchObject({ code: 500 })
    await client.delete('all')
    await server.settled({ within: 60_000 })
    await maps().list({ namespace: 'default' })
  })
})

test('without --fault-injection the kind does not exist, and an address beyond loopback needs a second flag', async () => {
  await using plain = await start({ profile: 'kubernetes' })
  await expect(plain.client.resource(rules).list()).rejects.toMatchObject({ code: 404 })
  const flags = ['--fault-injection', '--bind-address=0.0.0.0']
  await expect(start({ flags })).rejects.toThrow('faults would hit clients of other machines')
})
