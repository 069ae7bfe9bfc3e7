import { expect, test } from 'vitest'
import { type Answer, sharedApi, until, untilEverywhere } from '../api/api.ts'

const server = sharedApi({ profile: 'kubernetes', flags: ['--fault-injection'] })
const rules = '/apis/faults.orch.io/v1/faultrules'

const statusOf = ({ body }: Answer) => body['status'] as { readonly hits?: number; readonly problem?: string } | undefined

test('a FaultRule takes effect in each gateway, every hit is counted once, and its deletion ends it in all gateways', async () => {
  const { api } = server
  let refused = 0
  const ask = async () => {
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'c-' } }
    const answer = await api.post('/api/v1/namespaces/default/configmaps?dryRun=All', body, { 'x-test': 'down' })
    if (answer.status === 503) refused += 1
    return answer
  }
  const spec = { match: { user: '*', header: { 'x-test': 'down' } }, effect: { refuse: { code: 503 } } }
  const { status } = await api.post(rules, { apiVersion: 'faults.orch.io/v1', kind: 'FaultRule', metadata: { name: 'down' }, spec })
  expect(status).toBe(201)
  await untilEverywhere(ask, (answer) => answer.status === 503)
  const answers = await Promise.all(Array.from({ length: 40 }, ask))
  expect(answers.map((answer) => answer.status)).toEqual(answers.map(() => 503))
  const counted = await until(
    () => api.get(`${rules}/down`),
    (answer) => (statusOf(answer)?.hits ?? 0) >= refused,
  )
  expect(statusOf(counted)).toEqual({ hits: refused })
  await api.delete(`${rules}/down`)
  await untilEverywhere(ask, (answer) => answer.status === 201)
})
