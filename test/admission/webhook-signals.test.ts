import { expect, test } from 'vitest'
import { type Api, aNamespace, anApi, configMap } from '../api/api.ts'
import { anAuditedApi, aPolicy } from '../audit/audited.ts'
import { aConfiguration, aHook, aHookedNamespace } from './hooks.ts'
import { allowing, answering, aWebhookServer, patching, toBase64, withBody } from './webhook-server.ts'

// The ConfigMap that a controller puts into every namespace would be counted.
const flags = ['--controllers=*,-root-ca-cert-publisher']

async function annotationsAt(level: string) {
  const change = await aWebhookServer(patching(() => [{ op: 'add', path: '/data', value: { a: 'b' } }]))
  const quiet = await aWebhookServer(allowing)
  const down = await aWebhookServer(withBody(() => '', { code: 503 }))
  const rules = [{ level: 'None', omitStages: ['RequestReceived'], nonResourceURLs: ['*'] }]
  const policy = aPolicy([...rules, { level, resources: [{ group: '', resources: ['configmaps'] }] }, { level: 'None' }])
  const { api, events } = await anAuditedApi(policy, { flags })
  const namespace = await aNamespace(api)
  const hooks = [
    aHook(quiet, namespace, { name: 'quiet.example.com', reinvocationPolicy: 'IfNeeded' }),
    aHook(change, namespace, { name: 'change.example.com' }),
    aHook(down, namespace, { name: 'down.example.com', failurePolicy: 'Ignore' }),
  ]
  await aConfiguration(api, 'mutating', hooks, 'audited')
  await aConfiguration(api, 'validating', [aHook(down, namespace, { name: 'judge.example.com', failurePolicy: 'Ignore' })], 'judges')
  const { status } = await api.post(`/api/v1/namespaces/${namespace}/configmaps`, configMap({ name: 'a' }))
  expect(status).toBe(201)
  const written = (await events()).find(({ stage, objectRef }) => stage === 'ResponseComplete' && objectRef?.['namespace'] === namespace)
  return Object.fromEntries(Object.entries(written?.annotations ?? {}).filter(([key]) => key.includes('webhook')))
}

const place = (round: number, index: number) => `mutation.webhook.admission.orch.io/round_${round}_index_${index}`
const metadata = {
  [place(0, 0)]: '{"configuration":"audited","webhook":"quiet.example.com","mutated":false}',
  [place(0, 1)]: '{"configuration":"audited","webhook":"change.example.com","mutated":true}',
  [place(0, 2)]: '{"configuration":"audited","webhook":"down.example.com","mutated":false}',
  [place(1, 0)]: '{"configuration":"audited","webhook":"quiet.example.com","mutated":false}',
  [`failed-open.${place(0, 2)}`]: 'down.example.com',
  'failed-open.validating.webhook.admission.orch.io/round_0_index_0': 'judge.example.com',
}

test('AUDIT-01, AUDIT-02, AUDIT-03, AUDIT-06, AUDIT-09: the audit event tells each call and whether it changed the object', async () => {
  expect(await annotationsAt('Metadata')).toEqual(metadata)
})

test('AUDIT-04, AUDIT-05: at level Request it tells the patch as well', async () => {
  expect(await annotationsAt('Request')).toEqual({
    ...metadata,
    'patch.webhook.admission.orch.io/round_0_index_1':
      '{"configuration":"audited","webhook":"change.example.com","patch":[{"op":"add","path":"/data","value":{"a":"b"}}],"patchType":"JSONPatch"}',
  })
})

test('annotations of a webhook stand under its name', async () => {
  const hook = await aWebhookServer(answering(() => ({ allowed: true, auditAnnotations: { ticket: '7' } })))
  const { api, events } = await anAuditedApi(aPolicy([{ level: 'Metadata' }]), { flags })
  const { path, hook: name, namespace } = await aHookedNamespace(api, 'validating', hook)
  await api.post(path, configMap({ name: 'a' }))
  const written = (await events()).find(({ stage, verb, objectRef }) => {
    return (
      stage === 'ResponseComplete' && verb === 'create' && objectRef?.['resource'] === 'configmaps' && objectRef['namespace'] === namespace
    )
  })
  expect(written?.annotations).toMatchObject({ [`${name}/ticket`]: '7' })
})

async function rejectionsOf(api: Api, hook: string): Promise<string[]> {
  const { text } = await api.get('/metrics')
  const lines = text.split('\n').filter((line) => line.startsWith('apiserver_admission_webhook_rejection_count{') && line.includes(hook))
  return lines.map((line) => line.replace(/^[^{]*/, '').replace(`name="${hook}",`, ''))
}

test('METRIC-01…METRIC-09: rejections are counted by webhook, operation, phase, kind of error and code', async () => {
  const api = await anApi({ flags })
  const cases = [
    ['validating', answering(() => ({ allowed: false, status: { code: 403 } })), 'validating', 'no_error', 403],
    ['mutating', answering(() => ({ allowed: false, status: { code: 999 } })), 'admit', 'no_error', 600],
    ['mutating', withBody(() => '', { code: 503 }), 'admit', 'calling_webhook_error', 503],
    ['validating', withBody(() => '{}'), 'validating', 'calling_webhook_error', 503],
    [
      'mutating',
      answering(() => ({ allowed: true, patchType: 'JSONPatch', patch: toBase64('{}') })),
      'admit',
      'apiserver_internal_error',
      0,
    ],
  ] as const
  for (const [phase, reply, type, error, code] of cases) {
    const hook = await aWebhookServer(reply)
    const { path, hook: name } = await aHookedNamespace(api, phase, hook)
    await api.post(path, configMap({ name: 'a' }))
    const labels = `{type="${type}",operation="CREATE",error_type="${error}",rejection_code="${code}"} 1`
    expect(await rejectionsOf(api, name)).toEqual([labels])
  }
})

test.each([
  ['takes longer than its time', () => {}, { timeoutSeconds: 1 }],
  ['answers what is no review', withBody(() => 'words'), {}],
] as const)(
  'METRIC-05: one that %s is counted as an error of the call where that refuses the request, and only there',
  async (_, reply, fields) => {
    const api = await anApi({ flags })
    for (const [failurePolicy, status, counted] of [
      ['Fail', 500, ['{type="validating",operation="CREATE",error_type="calling_webhook_error",rejection_code="400"} 1']],
      ['Ignore', 201, []],
    ] as const) {
      const hook = await aWebhookServer(reply)
      const { path, hook: name } = await aHookedNamespace(api, 'validating', hook, { ...fields, failurePolicy })
      const answer = await api.post(path, configMap({ name: 'a' }))
      expect({ failurePolicy, status: answer.status, counted: await rejectionsOf(api, name) }).toEqual({ failurePolicy, status, counted })
    }
  },
)

test('METRIC-01: calls, their time and those that failed and were ignored are counted too', async () => {
  const api = await anApi({ flags })
  const hook = await aWebhookServer(withBody(() => '', { code: 500 }))
  const { path, hook: name } = await aHookedNamespace(api, 'validating', hook, { failurePolicy: 'Ignore' })
  await api.post(path, configMap({ name: 'a' }))
  const { text } = await api.get('/metrics')
  expect(text).toContain(
    `apiserver_admission_webhook_request_total{name="${name}",type="validating",operation="CREATE",code="500",rejected="false"} 1`,
  )
  expect(text).toContain(`apiserver_admission_webhook_fail_open_count{name="${name}",type="validating"} 1`)
  expect(text).toContain(
    `apiserver_admission_webhook_admission_duration_seconds_count{name="${name}",type="validating",operation="CREATE",rejected="false"} 1`,
  )
  expect(await rejectionsOf(api, name)).toEqual([])
})

test('METRIC-01: the time of each phase, of each plugin, and quantiles of the phases are told', async () => {
  const api = await anApi({ flags })
  const namespace = await aNamespace(api)
  expect((await api.post(`/api/v1/namespaces/${namespace}/configmaps`, configMap({ name: 'a' }))).status).toBe(201)
  const { text } = await api.get('/metrics')
  const labels = 'type="admit",operation="CREATE",rejected="false"'
  expect(text).toContain(`apiserver_admission_step_admission_duration_seconds_count{${labels}} `)
  expect(text).toContain(`apiserver_admission_controller_admission_duration_seconds_count{name="NamespaceLifecycle",${labels}} `)
  const summary = 'apiserver_admission_step_admission_duration_seconds_summary'
  expect(text).toContain(`# HELP ${summary} [ALPHA] `)
  for (const quantile of [0.5, 0.9, 0.99]) {
    expect(text).toMatch(new RegExp(`^${summary}\\{quantile="${quantile}",${labels}\\} 0?\\.?\\d`, 'm'))
  }
  expect(text).toContain(`${summary}_count{${labels}} `)
})
