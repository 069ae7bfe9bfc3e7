import { expect, test } from 'vitest'
import { CtlServer } from './run-ctl.ts'

const shared = new CtlServer(() => ({ flags: ['--fault-injection'] }))
const { ctl } = shared

test('orchctl fault adds faults that are in effect when it returns, lists them with their hits, and removes them', async () => {
  const words = ['--user', 'operator', '--verb', 'list,get', '--resource', 'configmaps', '--times', '3']
  expect(await ctl(['fault', 'add', 'busy', 'refuse=429', ...words])).toMatchObject({ code: 0, out: 'fault busy added\n' })
  expect(await ctl(['fault', 'add', 'slow', 'delay=1ms', '--after', '2'])).toMatchObject({ code: 0 })
  const maps = shared.server.user('operator').client.resource({ group: '', version: 'v1', plural: 'configmaps', namespaced: true })
  await expect(maps.list({ namespace: 'default' })).rejects.toMatchObject({ code: 429 })
  await shared.server.eventually(
    { apiVersion: 'faults.orch.io/v1', kind: 'FaultRule', name: 'busy' },
    { status: { hits: 1 } },
    { within: '60s' },
  )
  const { out } = await ctl(['fault', 'list'])
  expect(out).toMatch(
    /^NAME +HITS +EFFECT +MATCH +PROBLEM\nbusy +1 +refuse code=429 +resource=configmaps user=operator verb=\["list","get"\]/,
  )
  expect(await ctl(['fault', 'remove', 'slow'])).toMatchObject({ code: 0, out: 'fault slow removed\n' })
  expect(await ctl(['fault', 'clear'])).toMatchObject({ code: 0, out: 'fault busy removed\n' })
  expect(await ctl(['fault', 'list'])).toMatchObject({ out: 'There are no faults.\n' })
})

test('orchctl fault names the expected arguments', async () => {
  const refused: [string[], string][] = [
    [['fault'], 'must be fault add name effect'],
    [['fault', 'add', 'a'], 'effects are delay=2s'],
    [['fault', 'add', 'a', 'explode'], 'explode is no effect: expected one of delay=2s'],
    [['fault', 'add', 'a', 'refuse'], 'refuse: expected refuse=503'],
    [['fault', 'add', 'a', 'truncate=x'], 'expected truncate=20'],
    [['fault', 'add', 'a', 'cut=soon'], 'cut=soon is no effect'],
    [['fault', 'add', 'a', 'hang', '--times', 'x'], 'x'],
    [['fault', 'add', 'a', 'hang', '--probability', 'x'], 'must be a number from 0 to 1'],
    [['fault', 'remove'], 'a fault must be named'],
    [['fault', 'remove', 'none'], 'not found'],
    [['fault', 'list', 'a'], 'takes no names'],
    [['fault', 'add', 'a', 'delay=soon'], 'is not in force'],
  ]
  for (const [words, reason] of refused) {
    const { code, error } = await ctl(words)
    expect([words, code, error]).toEqual([words, 1, expect.stringContaining(reason)])
  }
})
