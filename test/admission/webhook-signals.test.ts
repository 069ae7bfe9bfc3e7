import { expect, test } from 'vitest'
import { type Api, aNamespace, anApi, configMap } from '../api/api.ts'
import { anAuditedApi, aPolicy } from '../audit/audited.ts'
import { aConfiguration, aHook, aHookedNamespace } from './hooks.ts'
import { allowing, answering, aWebhookServer, patching, toBase64, withBody } from './webhook-server.ts'

// Without this, the test would count the ConfigMap that a controller puts into every namespace.
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

test('AUDIT-01, AUDIT-02, AUDIT-03: the audit event contains each call and whether it changed the object', async () => {
  expect(await annotationsAt('Metadata')).toEqual(metadata)
})

test('AUDIT-06, AUDIT-09: below level Request the audit event contains no patch; rounds and webhooks are counted from 0', async () => {
  const keys = Object.keys((await annotationsAt('Metadata')) ?? {})
  expect(keys.filter((key) => key.startsWith('patch.'))).toEqual([])
  const calls = keys.flatMap((key) => /^mutation\..*round_(\d+)_index_(\d+)$/.exec(key)?.slice(1).join() ?? [])
  expect(calls).toEqual(['0,0', '0,1', '0,2', '1,0'])
})

test('AUDIT-04, AUDIT-05: at level Request the audit event contains the patch as well', async () => {
  expect(await annotationsAt('Request')).toEqual({
    ...metadata,
    'patch.webhook.admission.orch.io/round_0_index_1':
      '{"configuration":"audited","webhook":"change.example.com","patch":[{"op":"add","path":"/data","value":{"a":"b"}}],"patchType":"JSONPatch"}',
  })
})

test('annotations of a webhook have its name as a prefix', async () => {
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

const badPatch = answering(() => ({ allowed: true, patchType: 'JSONPatch', patch: toBase64('[{"op":"remove","path":"/data/none"}]') }))
const saysNo = (code: number) => answering(() => ({ allowed: false, status: { code } }))

test.each([
  ['METRIC-01, METRIC-02, METRIC-06, METRIC-08: a no', 'validating', saysNo(403), 'validating', 'no_error', 403],
  ['METRIC-04, METRIC-09: a no with a code beyond all', 'mutating', saysNo(999), 'admit', 'no_error', 600],
  ['METRIC-03, METRIC-05: an answer with an error', 'mutating', withBody(() => '', { code: 503 }), 'admit', 'calling_webhook_error', 503],
  ['METRIC-05: an empty review', 'validating', withBody(() => '{}'), 'validating', 'calling_webhook_error', 503],
  ['METRIC-07: a patch that cannot be worked with', 'mutating', badPatch, 'admit', 'apiserver_internal_error', 0],
] as const)('%s is counted as a rejection, by webhook, operation, phase, kind of error and code', async (_, phase, reply, ...labels) => {
  const [type, error, code] = labels
  const api = await anApi({ flags })
  const hook = await aWebhookServer(reply)
  const { path, hook: name } = await aHookedNamespace(api, phase, hook)
  await api.post(path, configMap({ name: 'a' }))
  expect(await rejectionsOf(api, name)).toEqual([`{type="${type}",operation="CREATE",error_type="${error}",rejection_code="${code}"} 1`])
})

test.each([
  ['takes longer than its time', () => {}, { timeoutSeconds: 1 }],
  ['answers what is no review', withBody(() => 'words'), {}],
] as const)('METRIC-05: a webhook that %s is counted as a call error only if that refuses the request', async (_, reply, fields) => {
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
})

test('METRIC-01: calls, their durations, and ignored failures are counted', async () => {
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

test('METRIC-01: the durations of each phase and plugin, and quantiles of the phases, are exposed', async () => {
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
