import { describe, expect, test } from 'vitest'
import { type Api, aName, configMap, created, sharedApi } from '../api/api.ts'
import { policiesOf } from './a-policy.ts'
import { aHookedNamespace } from './hooks.ts'
import { allowing, aWebhookServer } from './webhook-server.ts'

const server = sharedApi()
const api = (): Api => server.api
const { aPolicy } = policiesOf(api)
const owned = { metadata: { name: 'owned', labels: { owner: 'a' } } }

/** The sum of a metric over all gateways and all series that have these labels. */
async function metric(name: string, labels: Readonly<Record<string, string>>): Promise<number> {
  const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`)
  const answers = await api().getFromEach('/metrics')
  const lines = answers
    .flatMap(({ text }) => text.split('\n'))
    .filter((line) => line.startsWith(`${name}{`) && wanted.every((one) => line.includes(one)))
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0)
}

test('VAP-31: decisions and their durations are counted by policy, binding, action and error', async () => {
  const { create, name: policy, binding } = await aPolicy({})
  await create()
  await create(owned)
  await create(owned)
  const labels = { policy, policy_binding: binding, error_type: 'no_error' }
  const check = 'apiserver_validating_admission_policy_check'
  expect(await metric(`${check}_total`, { ...labels, enforcement_action: 'deny' })).toBe(1)
  expect(await metric(`${check}_total`, { ...labels, enforcement_action: 'allow' })).toBe(2)
  expect(await metric(`${check}_duration_seconds_count`, { ...labels, enforcement_action: 'allow' })).toBe(2)
  const failing = await aPolicy({ policy: { validations: [{ expression: "object.metadata.labels['x'] == 'y'" }] } })
  await failing.create()
  expect(await metric(`${check}_total`, { policy: failing.name, error_type: 'policy_evaluation_error' })).toBe(1)
  const paramless = await aPolicy({
    policy: { paramKind: { apiVersion: 'v1', kind: 'Absent' } },
    binding: { paramRef: { name: 'a', parameterNotFoundAction: 'Deny' } },
  })
  await paramless.create()
  expect(await metric(`${check}_total`, { policy: paramless.name, error_type: 'policy_configuration_error' })).toBe(1)
})

describe('VAP-35: match conditions are counted', () => {
  const conditions = 'apiserver_admission_match_condition'
  const excluding = { name: 'excluding', expression: "object.metadata.name != 'excluded'" }
  const broken = { name: 'broken', expression: "object.metadata.labels['x'] == 'y'" }

  test('for a policy', async () => {
    const { create, name } = await aPolicy({ policy: { matchConditions: [excluding] } })
    await create({ metadata: { name: 'excluded' } })
    await create(owned)
    const labels = { name, kind: 'policy', type: 'validate', operation: 'CREATE' }
    expect(await metric(`${conditions}_evaluation_seconds_count`, labels)).toBe(2)
    expect(await metric(`${conditions}_exclusions_total`, labels)).toBe(1)
    const failing = await aPolicy({ policy: { matchConditions: [broken] } })
    await failing.create()
    expect(await metric(`${conditions}_evaluation_errors_total`, { ...labels, name: failing.name })).toBe(1)
  })

  test.each([
    ['mutating', 'admit'],
    ['validating', 'validate'],
  ] as const)('for a %s webhook', async (phase, type) => {
    const hook = await aWebhookServer(allowing)
    const name = `${aName('hook')}.example.com`
    const { path } = await aHookedNamespace(api(), phase, hook, { name, matchConditions: [excluding] })
    await created(api(), path, configMap({ name: 'excluded' }))
    await created(api(), path, configMap({ name: 'called' }))
    const labels = { name, kind: 'webhook', type, operation: 'CREATE' }
    expect(await metric(`${conditions}_evaluation_seconds_count`, labels)).toBe(2)
    expect(await metric(`${conditions}_exclusions_total`, labels)).toBe(1)
    const brokenName = `${aName('hook')}.example.com`
    const failing = await aHookedNamespace(api(), phase, hook, { name: brokenName, matchConditions: [broken] })
    expect((await api().post(failing.path, configMap({ name: 'a' }))).status).toBe(403)
    expect(await metric(`${conditions}_evaluation_errors_total`, { ...labels, name: brokenName })).toBe(1)
  })
})
