import { readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { printConfiguration } from '@orch/client'
import { start } from 'orch'
import { describe, expect, onTestFinished, test } from 'vitest'
import { aNamespace, anApi, configMap, configMapsIn } from '../api/api.ts'
import { aFolder, anAuditedApi, aPolicy, readEvents, type WrittenEvent } from './audited.ts'

const inDefault = configMapsIn('default')
const onConfigMaps = { resources: [{ group: '', resources: ['configmaps'] }], namespaces: ['default'] }

const ofStage = (events: readonly WrittenEvent[], stage: string) => events.filter((event) => event.stage === stage)

describe('levels', () => {
  test('AUDIT-08: at Metadata events have the user, the verb, the object and the outcome, and no body', async () => {
    const audited = await anAuditedApi(aPolicy([{ level: 'Metadata', ...onConfigMaps }]))
    const { headers } = await audited.api.post(`${inDefault}?dryRun=All`, configMap({ name: 'a', data: { k: 'body-text' } }), {
      'user-agent': 'tester/1',
      'audit-id': 'my-id',
      'x-forwarded-for': '203.0.113.7, nonsense',
    })
    expect(headers['audit-id']).toBe('my-id')
    const events = await audited.events()
    expect(events.map(({ stage }) => stage)).toEqual(['RequestReceived', 'ResponseComplete'])
    expect(Object.keys(events[1] ?? {})).toEqual([
      'kind',
      'apiVersion',
      'level',
      'auditID',
      'stage',
      'requestURI',
      'verb',
      'user',
      'sourceIPs',
      'userAgent',
      'objectRef',
      'responseStatus',
      'requestReceivedTimestamp',
      'stageTimestamp',
      'annotations',
    ])
    expect(events[1]).toMatchObject({
      annotations: { 'authorization.orch.io/decision': 'allow', 'authorization.orch.io/reason': '' },
      kind: 'Event',
      apiVersion: 'audit.orch.io/v1',
      level: 'Metadata',
      auditID: 'my-id',
      requestURI: `${inDefault}?dryRun=All`,
      verb: 'create',
      user: { groups: ['system:masters', 'system:authenticated'] },
      sourceIPs: ['203.0.113.7', '127.0.0.1'],
      userAgent: 'tester/1',
      objectRef: { resource: 'configmaps', namespace: 'default', name: 'a', apiVersion: 'v1' },
      responseStatus: { metadata: {}, code: 201 },
    })
    expect(String(events[1]?.stageTimestamp)).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
    expect(JSON.stringify(events)).not.toContain('body-text')
  })

  test('AUDIT-08: at Request events also have the request body, and at RequestResponse the response body', async () => {
    const policy = aPolicy(
      [
        { level: 'Request', ...onConfigMaps, verbs: ['create', 'patch'] },
        { level: 'RequestResponse', ...onConfigMaps },
      ],
      { omitStages: ['RequestReceived'] },
    )
    const audited = await anAuditedApi(policy)
    await audited.api.post(inDefault, configMap({ name: 'a', data: { k: '1' } }))
    await audited.api.patch(`${inDefault}/a`, { data: { k: '2' } })
    await audited.api.get(`${inDefault}/a`)
    await audited.api.get(`${inDefault}/none`)
    await audited.api.get(inDefault, { accept: 'application/vnd.orch.protobuf' })
    const [create, patch, get, none, list] = await audited.events()
    expect(create?.requestObject).toMatchObject({ kind: 'ConfigMap', data: { k: '1' } })
    expect(create?.responseObject).toBeUndefined()
    expect(patch?.requestObject).toEqual({ data: { k: '2' } })
    expect(get?.requestObject).toBeUndefined()
    expect(get?.responseObject).toMatchObject({ kind: 'ConfigMap', metadata: { name: 'a' }, data: { k: '2' } })
    expect(none?.responseStatus).toMatchObject({ status: 'Failure', reason: 'NotFound', code: 404, details: { name: 'none' } })
    expect(none?.responseObject).toMatchObject({ kind: 'Status', reason: 'NotFound' })
    expect(list?.responseObject).toMatchObject({ kind: 'ConfigMapList' })
  })

  test('AUDIT-08: with omitManagedFields in the policy events omit managedFields, unless a rule overrides it', async () => {
    const policy = aPolicy(
      [
        { level: 'RequestResponse', ...onConfigMaps, verbs: ['get'], omitManagedFields: false },
        { level: 'RequestResponse', ...onConfigMaps },
      ],
      { omitStages: ['RequestReceived'], omitManagedFields: true },
    )
    const audited = await anAuditedApi(policy)
    await audited.api.post(`${inDefault}?fieldManager=me`, configMap({ name: 'a', data: { k: '1' } }))
    await audited.api.get(`${inDefault}/a`)
    await audited.api.get(`${inDefault}?limit=500`)
    const [create, get, list] = await audited.events()
    expect(create?.responseObject).toMatchObject({ metadata: expect.not.objectContaining({ managedFields: expect.anything() }) })
    expect(get?.responseObject).toMatchObject({ metadata: { managedFields: [{ operation: 'Update' }] } })
    expect(JSON.stringify(list?.responseObject)).not.toContain('managedFields')
  })
})

test('AUDIT-08, LIM-12: large bodies and answers are written completely, also when the server stops at once', async () => {
  const audited = await anAuditedApi(aPolicy([{ level: 'RequestResponse', ...onConfigMaps }]))
  const data = Object.fromEntries(Array.from({ length: 8_000 }, (_, index) => [`k${index}`, 'value']))
  await audited.api.post(inDefault, configMap({ name: 'json', data }))
  const lines = Object.keys(data).map((key) => `  ${key}: value`)
  const yaml = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: yaml}\ndata:\n${lines.join('\n')}\n`
  await audited.api.post(inDefault, yaml, { 'content-type': 'application/yaml' })
  await audited.api.get(inDefault)
  const [json, ofYaml, list] = ofStage(await audited.events(), 'ResponseComplete').sort((a, b) =>
    String(a['requestReceivedTimestamp']).localeCompare(String(b['requestReceivedTimestamp'])),
  )
  for (const event of [json, ofYaml]) {
    expect(event?.requestObject?.['data']).toEqual(data)
    expect(event?.responseObject).toMatchObject({ kind: 'ConfigMap', data })
    expect(event?.annotations ?? {}).not.toHaveProperty('audit.orch.io/truncated')
  }
  expect([json?.objectRef?.['name'], ofYaml?.objectRef?.['name']]).toEqual(['json', 'yaml'])
  expect(list?.responseObject).toMatchObject({ kind: 'ConfigMapList', items: expect.arrayContaining([expect.objectContaining({ data })]) })
})

describe('stages', () => {
  test('AUDIT-08: include an event when the answer of a watch starts and another when it ends', async () => {
    const audited = await anAuditedApi(aPolicy([{ level: 'Metadata', verbs: ['watch'], ...onConfigMaps }]))
    const watch = await audited.api.watch(`${inDefault}?watch=1`)
    expect(watch.status).toBe(200)
    const events = await audited.events()
    expect(events.map(({ stage }) => stage)).toEqual(['RequestReceived', 'ResponseStarted', 'ResponseComplete'])
    expect(ofStage(events, 'ResponseStarted')[0]).toMatchObject({ responseStatus: { code: 200 } })
  })

  test('AUDIT-08: may be omitted by a rule', async () => {
    const policy = aPolicy([
      { level: 'Metadata', nonResourceURLs: ['/version'], omitStages: ['ResponseComplete'] },
      { level: 'Metadata', nonResourceURLs: ['/api*'], userGroups: ['system:masters'] },
    ])
    const audited = await anAuditedApi(policy)
    await audited.api.get('/version')
    await audited.api.get('/apis')
    await audited.api.get('/livez')
    expect((await audited.events()).map(({ requestURI, stage }) => `${requestURI} ${stage}`)).toEqual([
      '/version RequestReceived',
      '/apis RequestReceived',
      '/apis ResponseComplete',
    ])
  })

  test('AUDIT-08: of a request without an authenticated user have no user', async () => {
    const audited = await anAuditedApi(
      aPolicy([{ level: 'Metadata', resources: [{ group: '', resources: ['pods'] }], namespaces: ['default'] }]),
    )
    const asStranger = audited.api.as({})
    expect((await asStranger('GET', '/api/v1/namespaces/default/pods', { headers: { authorization: 'Bearer not-a-token' } })).status).toBe(
      401,
    )
    const events = await audited.events()
    expect(events).toMatchObject([{ stage: 'ResponseStarted', user: {}, responseStatus: { code: 401, reason: 'Unauthorized' } }])
    expect(JSON.stringify(events)).not.toContain('not-a-token')
  })
})

describe('the audit log', () => {
  test('AUDIT-08: has one line per event in the legacy format', async () => {
    const audited = await anAuditedApi(aPolicy([{ level: 'Metadata', ...onConfigMaps }]), {
      flags: ['--audit-log-format=legacy'],
    })
    await audited.api.get(`${inDefault}/x`, { 'user-agent': 'a "quoted" agent' })
    await audited.api.stop()
    const [received, complete] = readFileSync(audited.logFile, 'utf8').trim().split('\n')
    expect(received).toMatch(/^\S+Z AUDIT: id="[^"]+" stage="RequestReceived" ip="127.0.0.1" method="get" user="[^"]+" groups=/)
    expect(received).toContain(String.raw`user-agent="a \"quoted\" agent" namespace="default" uri="${inDefault}/x" response="<deferred>"`)
    expect(complete).toContain('response="404"')
  })

  test('AUDIT-08: is rotated when it is large, and a bounded number of files is kept', async () => {
    const audited = await anAuditedApi(aPolicy([{ level: 'Request', ...onConfigMaps, verbs: ['create'] }]), {
      flags: ['--audit-log-maxsize=1', '--audit-log-maxbackup=1', '--audit-log-compress'],
    })
    const big = 'x'.repeat(600_000)
    for (let index = 0; index < 6; index += 1) await audited.api.post(inDefault, configMap({ name: `a${index}`, data: { big } }))
    await audited.api.stop()
    await expect.poll(() => readdirSync(audited.folder).filter((name) => /^audit-.*\.log\.gz$/.test(name))).toHaveLength(1)
  })

  test('AUDIT-08: removes rotated files that are too old, and no other files', async () => {
    const audited = await anAuditedApi(aPolicy([{ level: 'Request', ...onConfigMaps, verbs: ['create'] }]), {
      flags: ['--audit-log-maxsize=1', '--audit-log-maxage=2'],
    })
    const aDay = 24 * 60 * 60
    const aside = (name: string, days: number) => {
      const path = join(audited.folder, name)
      writeFileSync(path, '')
      utimesSync(path, Date.now() / 1000 - days * aDay, Date.now() / 1000 - days * aDay)
    }
    aside('audit-2020-01-01T00-00-00.000.log', 3)
    aside('audit-2020-01-02T00-00-00.000.log', 1)
    aside('audit-of-last-year.log', 300)
    const big = 'x'.repeat(600_000)
    for (let index = 0; index < 3; index += 1) await audited.api.post(inDefault, configMap({ name: `a${index}`, data: { big } }))
    await expect.poll(() => readdirSync(audited.folder)).not.toContain('audit-2020-01-01T00-00-00.000.log')
    expect(readdirSync(audited.folder)).toEqual(expect.arrayContaining(['audit-2020-01-02T00-00-00.000.log', 'audit-of-last-year.log']))
  })

  test('AUDIT-08: has events without bodies, marked so, if these are too large', async () => {
    const audited = await anAuditedApi(aPolicy([{ level: 'RequestResponse', ...onConfigMaps, verbs: ['create'] }]), {
      flags: ['--audit-log-truncate-enabled', '--audit-log-truncate-max-event-size=20000'],
    })
    await audited.api.post(inDefault, configMap({ name: 'small', data: { a: 'b' } }))
    await audited.api.post(inDefault, configMap({ name: 'large', data: { a: 'x'.repeat(30_000) } }))
    const [small, large] = ofStage(await audited.events(), 'ResponseComplete')
    expect(small).toMatchObject({ requestObject: { data: { a: 'b' } } })
    expect(large).toMatchObject({ objectRef: { name: 'large' }, annotations: { 'audit.orch.io/truncated': 'true' } })
    expect([large?.requestObject, large?.responseObject]).toEqual([undefined, undefined])
  })

  test('AUDIT-08: contains waiting events of batch mode when the server stops', async () => {
    const audited = await anAuditedApi(aPolicy([{ level: 'Metadata', nonResourceURLs: ['/version'] }]), {
      flags: ['--audit-log-mode=batch', '--audit-log-batch-max-size=100', '--audit-log-batch-max-wait=1h'],
    })
    await audited.api.get('/version')
    expect(await audited.events()).toHaveLength(2)
  })

  test('AUDIT-08: fails requests on a full disk only in strict mode', async () => {
    for (const [mode, code] of [
      ['blocking', 200],
      ['blocking-strict', 500],
    ] as const) {
      const folder = aFolder()
      writeFileSync(join(folder, 'policy.yaml'), aPolicy([{ level: 'Metadata', nonResourceURLs: ['/version'] }]))
      const flags = [`--audit-policy-file=${join(folder, 'policy.yaml')}`, '--audit-log-path=/dev/full', `--audit-log-mode=${mode}`]
      const api = await anApi({ flags })
      expect((await api.get('/version')).status).toBe(code)
      expect((await api.get('/livez')).status).toBe(200)
      const { text } = await api.get('/metrics')
      expect(text).toMatch(/apiserver_audit_error_total\{plugin="log"\} [12]/)
      expect(text).toContain(`apiserver_audit_requests_rejected_total ${code === 500 ? 1 : 0}`)
    }
  })
})

describe('the audit webhook', () => {
  test('AUDIT-08: receives lists of events, and again after a failure', async () => {
    const lists: { kind: string; apiVersion: string; items: WrittenEvent[] }[] = []
    let failures = 1
    const server = createServer((request, response) => {
      let text = ''
      request.on('data', (chunk: Buffer) => {
        text += chunk.toString()
      })
      request.on('end', () => {
        const isRefused = failures-- > 0
        if (!isRefused) lists.push(JSON.parse(text) as (typeof lists)[number])
        response.writeHead(isRefused ? 503 : 200).end()
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const folder = aFolder()
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/sink`
    writeFileSync(join(folder, 'hook.conf'), printConfiguration({ cluster: 'c', user: 'u', configuration: { server: url } }))
    writeFileSync(join(folder, 'policy.yaml'), aPolicy([{ level: 'Metadata', nonResourceURLs: ['/version'] }]))
    const api = await anApi({
      flags: [
        `--audit-policy-file=${join(folder, 'policy.yaml')}`,
        `--audit-webhook-config-file=${join(folder, 'hook.conf')}`,
        '--audit-webhook-batch-max-wait=10ms',
        '--audit-webhook-initial-backoff=10ms',
      ],
    })
    await api.get('/version')
    await expect.poll(() => lists.flatMap(({ items }) => items).map(({ stage }) => stage)).toEqual(['RequestReceived', 'ResponseComplete'])
    expect(lists[0]).toMatchObject({ kind: 'EventList', apiVersion: 'audit.orch.io/v1', metadata: {} })
  })
})

describe('an audit webhook that does not answer', () => {
  /** A server that sends its audit events to a port without a listener. */
  const anApiTellingNobody = (mode: string) => {
    const folder = aFolder()
    const [hook, policy] = [join(folder, 'hook.conf'), join(folder, 'policy.yaml')]
    writeFileSync(hook, printConfiguration({ cluster: 'c', user: 'u', configuration: { server: 'http://127.0.0.1:9/' } }))
    writeFileSync(policy, aPolicy([{ level: 'Metadata', nonResourceURLs: ['/version'] }]))
    const flags = [`--audit-policy-file=${policy}`, `--audit-webhook-config-file=${hook}`, `--audit-webhook-mode=${mode}`]
    return anApi({ flags: [...flags, '--audit-webhook-initial-backoff=1ms', '--audit-webhook-batch-max-wait=1ms'] })
  }
  const lost = /apiserver_audit_error_total\{plugin="webhook"\} [1-9]/

  test.each([
    ['batch', 200],
    ['blocking', 200],
    ['blocking-strict', 500],
  ])('AUDIT-08: in mode %s leads to the answer %i, and the loss is counted', async (mode, code) => {
    const api = await anApiTellingNobody(mode)
    expect((await api.get('/version')).status).toBe(code)
    expect((await api.get('/livez')).status).toBe(200)
    await expect.poll(async () => (await api.get('/metrics')).text).toMatch(lost)
  })
})

describe('invalid audit settings', () => {
  const withPolicy = (text: string): string[] => {
    const file = join(aFolder(), 'policy.yaml')
    writeFileSync(file, text)
    return [`--audit-policy-file=${file}`, '--audit-log-path=-']
  }
  const withWebhook = (server: string): string[] => {
    const file = join(aFolder(), 'hook.conf')
    writeFileSync(file, printConfiguration({ cluster: 'c', user: 'u', configuration: { server } }))
    return [...withPolicy(aPolicy([{ level: 'Metadata' }])), `--audit-webhook-config-file=${file}`]
  }
  const cases: [string, () => string[], string][] = [
    ['a log without a policy', () => ['--audit-log-path=x'], '--audit-log-path needs --audit-policy-file'],
    ['a policy without a backend', () => ['--audit-policy-file=x'], '--audit-policy-file needs --audit-log-path'],
    ['no rules', () => withPolicy(aPolicy([])), 'rules: must have at least one rule'],
    ['an unknown level', () => withPolicy(aPolicy([{ level: 'All' }])), 'rules[0].level: must be one of None, Metadata'],
    ['an unknown field', () => withPolicy(aPolicy([{ level: 'None', user: ['a'] }])), 'rules[0].user: unknown field'],
    [
      'a rule about paths and resources',
      () => withPolicy(aPolicy([{ level: 'None', nonResourceURLs: ['/x'], namespaces: ['a'] }])),
      'rules[0].nonResourceURLs: a rule cannot be about both',
    ],
    [
      'names without resources',
      () => withPolicy(aPolicy([{ level: 'None', resources: [{ group: '', resourceNames: ['a'] }] }])),
      'rules[0].resources[0].resourceNames: needs at least one resource',
    ],
    [
      'a star inside a path',
      () => withPolicy(aPolicy([{ level: 'None', nonResourceURLs: ['/*/x'] }])),
      'rules[0].nonResourceURLs[0]: must begin',
    ],
    ['another version', () => withPolicy('{"apiVersion":"audit.orch.io/v1beta1","kind":"Policy"}'), 'apiVersion: must be audit.orch.io/v1'],
    ['a webhook in the clear', () => withWebhook('http://192.0.2.1/events'), 'must begin with https://'],
    ['a webhook at a link-local address', () => withWebhook('https://169.254.169.254/'), 'link-local addresses are not asked'],
  ]
  test.each(cases)('AUDIT-08: are refused with the reason: %s', async (_, flags, message) => {
    await expect(start({ flags: flags() })).rejects.toThrow(message)
  })

  test('an audit log that cannot be written is refused at the start, not at the first event', async () => {
    const folder = aFolder()
    const policy = withPolicy(aPolicy([{ level: 'Metadata' }])).slice(0, 1)
    await expect(start({ flags: [...policy, `--audit-log-path=${folder}`] })).rejects.toThrow(
      `--audit-log-path=${folder}: the file ${folder} cannot be written: illegal operation on a directory (EISDIR)`,
    )
    const nested = join(folder, 'a', 'b', 'audit.log')
    const server = await start({ flags: [...policy, `--audit-log-path=${nested}`] })
    await server.stop()
    expect(readFileSync(nested, 'utf8')).toContain('"kind":"Event"')
  })
})

test('AUDIT-08: no audit metrics are counted without a policy', async () => {
  const api = await anApi()
  await aNamespace(api)
  expect((await api.get('/metrics')).text).not.toContain('apiserver_audit_')
  expect(readEvents('')).toEqual([])
})

test('AUDIT-08, IMP-01, READ-27: the event has the user, the impersonated user and its permission, and the decision with its reason', async () => {
  const audited = await anAuditedApi(aPolicy([{ level: 'Metadata', ...onConfigMaps }], { omitStages: ['RequestReceived'] }))
  const answer = await audited.api.get(`${inDefault}/a`, { 'impersonate-user': 'jane', 'impersonate-group': 'dev' })
  expect(answer.status).toBe(403)
  const [event] = await audited.events()
  expect(event).toMatchObject({
    user: { groups: ['system:masters', 'system:authenticated'] },
    impersonatedUser: { username: 'jane', groups: ['dev', 'system:authenticated'] },
    authenticationMetadata: { impersonationConstraint: 'impersonate:user-info' },
    responseStatus: { status: 'Failure', reason: 'Forbidden', code: 403 },
    annotations: { 'authorization.orch.io/decision': 'forbid' },
  })
})

describe('the use of a deprecated version', () => {
  const path = (version: string) => `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers`
  const use = async () => {
    const audited = await anAuditedApi(aPolicy([{ level: 'Metadata', resources: [{ group: 'autoscaling' }], namespaces: ['default'] }]), {
      version: '1.25',
    })
    return { audited, old: await audited.api.get(path('v2beta2')), current: await audited.api.get(path('v2')) }
  }

  test('DEP-12, DEP-13: is served, and the client gets a warning', async () => {
    const { old, current } = await use()
    expect(old.status).toBe(200)
    expect(old.headers['warning']).toBe(
      '299 - "autoscaling/v2beta2 HorizontalPodAutoscaler is deprecated in v1.23+, unavailable in v1.26+; use autoscaling/v2 HorizontalPodAutoscaler"',
    )
    expect(current.headers['warning']).toBeUndefined()
  })

  test('METRIC-10, METRIC-11, METRIC-12: is exposed as a metric, with labels that match the counts of requests', async () => {
    const { audited } = await use()
    const { text } = await audited.api.get('/metrics')
    const labels = 'group="autoscaling",version="v2beta2",resource="horizontalpodautoscalers",subresource=""'
    expect(text).toContain(`apiserver_requested_deprecated_apis{${labels},removed_release="1.26"} 1`)
    const counted = text.split('\n').filter((line) => line.startsWith('apiserver_request_total{') && line.includes('version="v2beta2"'))
    for (const label of labels.split(',')) expect(counted).toEqual([expect.stringContaining(label)])
  })

  test('AUDIT-07, DEP-17: is in the audit event', async () => {
    const { audited } = await use()
    const [old, current] = (await audited.events()).filter(({ stage }) => stage === 'ResponseComplete')
    expect(old?.annotations).toMatchObject({ 'orch.io/deprecated': 'true', 'orch.io/removed-release': '1.26' })
    expect(current?.annotations).not.toHaveProperty(['orch.io/deprecated'])
  })
})

test('NAME-01, AUDIT-07: the event of a deprecated version has k8s.io/deprecated and k8s.io/removed-release', async () => {
  const policyText = JSON.stringify({
    apiVersion: 'audit.k8s.io/v1',
    kind: 'Policy',
    rules: [{ level: 'Metadata', namespaces: ['default'] }],
  })
  const audited = await anAuditedApi(policyText, { version: '1.25', profile: 'kubernetes' })
  await audited.api.get('/apis/autoscaling/v2beta2/namespaces/default/horizontalpodautoscalers')
  const event = (await audited.events()).find(({ requestURI, stage }) => requestURI.includes('v2beta2') && stage === 'ResponseComplete')
  expect(event?.annotations).toEqual({
    'authorization.k8s.io/decision': 'allow',
    'authorization.k8s.io/reason': '',
    'k8s.io/deprecated': 'true',
    'k8s.io/removed-release': '1.26',
  })
})
