import { request as httpsRequest } from 'node:https'
import { start } from 'orch'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Api, anApi, type Body, configMap, configMapsIn, created } from '../api/api.ts'

const group = '/apis/flowcontrol.apiserver.orch.io/v1'
const inDefault = configMapsIn('default')

async function uidOf(api: Api, plural: string, name: string): Promise<string> {
  return (await api.get(`${group}/${plural}/${name}`)).body.metadata.uid
}

function aSchema(name: string, level: string, more: object = {}): object {
  return {
    apiVersion: 'flowcontrol.apiserver.orch.io/v1',
    kind: 'FlowSchema',
    metadata: { name },
    spec: {
      priorityLevelConfiguration: { name: level },
      matchingPrecedence: 3,
      rules: [
        {
          subjects: [{ kind: 'Group', group: { name: 'system:authenticated' } }],
          resourceRules: [{ verbs: ['*'], apiGroups: [''], resources: ['configmaps'], namespaces: ['default'] }],
        },
      ],
      ...more,
    },
  }
}

function aLevel(name: string, shares: number): object {
  return {
    apiVersion: 'flowcontrol.apiserver.orch.io/v1',
    kind: 'PriorityLevelConfiguration',
    metadata: { name },
    spec: { type: 'Limited', limited: { nominalConcurrencyShares: shares, limitResponse: { type: 'Reject' } } },
  }
}

/** A request of an anonymous user that keeps its seat until the client has sent the whole body. */
function aSlowWrite(
  api: Api,
  { bytes = 0, isAnnounced = true }: { readonly bytes?: number; readonly isAnnounced?: boolean } = {},
): { finish(): Promise<number> } {
  const body = JSON.stringify(configMap({ name: 'slow' })).padEnd(bytes)
  const length = isAnnounced ? { 'content-length': String(body.length) } : {}
  const headers = { 'content-type': 'application/json', ...length }
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const target = new URL(`${api.url}${inDefault}?dryRun=All`)
  const request = httpsRequest(target, { method: 'POST', headers, ca: api.credentials.ca }, (response) => {
    response.resume()
    response.on('end', () => resolve(response.statusCode ?? 0))
  })
  request.on('error', reject)
  request.write(body.slice(0, 1))
  return {
    finish() {
      request.end(body.slice(1))
      return promise
    },
  }
}

const executingIn = async (api: Api, name: string): Promise<number> => {
  const pattern = new RegExp(`current_executing_requests\\{priority_level="[^"]+",flow_schema="${name}"\\} (\\d+)`)
  return Number(pattern.exec((await api.get('/metrics')).text)?.[1])
}

/** The rows of a dump, each with its columns by name. */
async function dumped(api: Api, what: string): Promise<Record<string, string>[]> {
  const { status, text, headers } = await api.get(`/debug/api_priority_and_fairness/${what}`)
  expect([status, headers['content-type']]).toEqual([200, 'text/plain; charset=utf-8'])
  const [columns = [], ...rows] = text
    .trimEnd()
    .split('\n')
    .map((line) => line.split(',').map((cell) => cell.trim()))
  return rows.map((row) => Object.fromEntries(columns.map((column, index) => [column, row[index] ?? 'absent'])))
}

const danglingOf = (body: Body) => (body.status as { conditions?: { type: string; status: string }[] }).conditions?.[0]

describe('flow control bootstrap objects', () => {
  test('LIM-11: include mandatory and suggested priority levels and flow schemas', async () => {
    const api = await anApi()
    const schemas = (await api.get(`${group}/flowschemas`)).body.items.map(({ metadata }) => metadata.name)
    expect(schemas).toEqual([
      'catch-all',
      'exempt',
      'global-default',
      'kube-controller-manager',
      'kube-scheduler',
      'orch-system-service-accounts',
      'probes',
      'service-accounts',
      'system-leader-election',
      'system-node-high',
      'system-nodes',
    ])
    const levels = (await api.get(`${group}/prioritylevelconfigurations`)).body.items.map(({ metadata }) => metadata.name)
    expect(levels).toHaveLength(8)
  })

  test('LIM-11: may be modified if they are suggested, and are restored if they are mandatory', async () => {
    const api = await anApi()
    const annotations = { 'apf.orch.io/autoupdate-spec': 'false' }
    const limited = { nominalConcurrencyShares: 77 }
    await api.patch(`${group}/prioritylevelconfigurations/workload-low`, { metadata: { annotations }, spec: { limited } })
    await api.patch(`${group}/prioritylevelconfigurations/catch-all`, { metadata: { annotations }, spec: { limited } })
    const sharesOf = async (name: string) => {
      const { body } = await api.get(`${group}/prioritylevelconfigurations/${name}`)
      return (body.spec as { limited: typeof limited }).limited.nominalConcurrencyShares
    }
    await expect.poll(() => sharesOf('catch-all')).toBe(5)
    expect(await sharesOf('workload-low')).toBe(77)
    await api.delete(`${group}/flowschemas/probes`)
    await expect.poll(async () => (await api.get(`${group}/flowschemas/probes`)).status).toBe(200)
  })

  test('LIM-11: include flow schemas whose condition shows a missing priority level', async () => {
    const api = await anApi()
    await created(api, `${group}/flowschemas`, aSchema('mine', 'no-such'))
    const condition = async () => danglingOf((await api.get(`${group}/flowschemas/mine`)).body)
    await expect.poll(condition).toMatchObject({ type: 'Dangling', status: 'True', reason: 'NotFound' })
    await created(api, `${group}/prioritylevelconfigurations`, aLevel('no-such', 1))
    await expect.poll(condition).toMatchObject({ type: 'Dangling', status: 'False', reason: 'Found' })
  })
})

describe('flow control', () => {
  test('LIM-11: names the flow schema and priority level in an answer', async () => {
    const api = await anApi({ anonymousAuth: true, flags: ['--authorization-mode=AlwaysAllow'] })
    const { headers } = await api.get(inDefault)
    expect(headers['x-orch-pf-flowschema-uid']).toBe(await uidOf(api, 'flowschemas', 'exempt'))
    expect(headers['x-orch-pf-prioritylevel-uid']).toBe(await uidOf(api, 'prioritylevelconfigurations', 'exempt'))
    const stranger = await api.as({})('GET', inDefault)
    expect(stranger.headers['x-orch-pf-flowschema-uid']).toBe(await uidOf(api, 'flowschemas', 'global-default'))
    const probe = await api.as({})('GET', '/livez')
    expect(probe.headers['x-orch-pf-flowschema-uid']).toBe(await uidOf(api, 'flowschemas', 'probes'))
  })

  test('LIM-11: refuses the second parallel request at a level with one seat, and requests of other levels continue', async () => {
    const api = await anApi({
      flags: ['--authorization-mode=AlwaysAllow', '--max-requests-inflight=1', '--max-mutating-requests-inflight=0'],
      anonymousAuth: true,
    })
    await created(api, `${group}/prioritylevelconfigurations`, aLevel('narrow', 1))
    await created(
      api,
      `${group}/flowschemas`,
      aSchema('narrow', 'narrow', {
        rules: [
          {
            subjects: [{ kind: 'Group', group: { name: 'system:unauthenticated' } }],
            resourceRules: [{ verbs: ['*'], apiGroups: [''], resources: ['configmaps'], namespaces: ['default'] }],
          },
        ],
      }),
    )
    const stranger = api.as({})
    const uid = await uidOf(api, 'flowschemas', 'narrow')
    await expect.poll(async () => (await stranger('GET', inDefault)).headers['x-orch-pf-flowschema-uid']).toBe(uid)
    const slow = aSlowWrite(api)
    await expect.poll(() => executingIn(api, 'narrow')).toBe(1)
    const refused = await stranger('GET', inDefault)
    expect((await stranger('GET', '/version')).status).toBe(200)
    expect(await slow.finish()).toBe(201)
    await expect.poll(async () => (await stranger('GET', inDefault)).status).toBe(200)
    expect(refused).toMatchObject({ status: 429, text: 'Too many requests, please try again later.', headers: { 'retry-after': '1' } })
    expect(refused.headers['content-type']).toMatch(/^text\/plain/)
    const metrics = (await api.get('/metrics')).text
    expect(metrics).toMatch(
      /apiserver_flowcontrol_rejected_requests_total\{priority_level="narrow",flow_schema="narrow",reason="concurrency-limit"\} \d+/,
    )
    for (const name of ['request_concurrency_limit', 'nominal_limit_seats', 'current_limit_seats'])
      expect(metrics).toContain(`apiserver_flowcontrol_${name}{priority_level="narrow"} 1`)
    expect(metrics).toContain('apiserver_flowcontrol_current_executing_requests{priority_level="narrow",flow_schema="narrow"} 0')
  })

  test.each([
    ['a small body', {}, 1],
    ['a megabyte', { bytes: 1024 * 1024 }, 4],
    ['the largest body', { bytes: 3 * 1024 * 1024 }, 10],
    ['a body of unknown length', { isAnnounced: false }, 10],
  ] as const)('LIM-11, LIM-12: gives a write seats by the size of its body: %s', async (_title, size, seats) => {
    const api = await anApi({ flags: ['--authorization-mode=AlwaysAllow'], anonymousAuth: true })
    const inUse = async () => {
      const pattern = /^apiserver_flowcontrol_request_concurrency_in_use\{[^}]*flow_schema="global-default"[^}]*\} (\d+)$/m
      return Number(pattern.exec((await api.get('/metrics')).text)?.[1])
    }
    const slow = aSlowWrite(api, size)
    await expect.poll(inUse).toBe(seats)
    expect(await slow.finish()).toBe(201)
    await expect.poll(inUse).toBe(0)
  })

  test.each([
    ['by its bytes, 100,000 to a seat', [], 26],
    ['without the gate by 256 KiB, ten at most', ['--feature-gates=SizeBasedListCostEstimate=false'], 10],
  ] as const)('READ-16: gives a list seats by the last answer of a similar list: %s', async (_title, flags, seats) => {
    const api = await anApi({ flags: ['--authorization-mode=AlwaysAllow', ...flags], anonymousAuth: true })
    const data = { x: 'v'.repeat(256_000) }
    for (let number = 0; number < 10; number++)
      expect((await api.post(inDefault, configMap({ name: `c${number}`, data }))).status).toBe(201)
    const stranger = api.as({})
    const taken = async () => {
      const pattern = /^apiserver_flowcontrol_work_estimated_seats_sum\{[^}]*flow_schema="global-default"[^}]*\} (\d+)$/m
      return Number(pattern.exec((await api.get('/metrics')).text)?.[1] ?? 0)
    }
    const lists = [await taken()]
    for (const _ of [1, 2]) {
      expect((await stranger('GET', inDefault)).status).toBe(200)
      lists.push(await taken())
    }
    expect(lists.slice(1).map((sum, index) => sum - (lists[index] ?? 0))).toEqual([1, seats])
  })

  test('LIM-11: refuses no queueable request while its queue has space', async () => {
    const api = await anApi({
      flags: ['--authorization-mode=AlwaysAllow', '--max-requests-inflight=1', '--max-mutating-requests-inflight=0'],
      anonymousAuth: true,
    })
    const stranger = api.as({})
    const slow = aSlowWrite(api)
    await expect.poll(() => executingIn(api, 'global-default')).toBe(1)
    const waiting = stranger('GET', inDefault)
    const waitingNow = async () => (await api.get('/metrics')).text
    const gauge = 'apiserver_flowcontrol_current_inqueue_requests{priority_level="global-default",flow_schema="global-default"}'
    await expect.poll(waitingNow).toContain(`${gauge} 1`)
    expect(await waitingNow()).toContain('apiserver_current_inqueue_requests{request_kind="readOnly"} 1\n')
    const [levels, queues, requests] = await Promise.all(
      ['dump_priority_levels', 'dump_queues', 'dump_requests?includeRequestDetails=1'].map((what) => dumped(api, what)),
    )
    expect(await slow.finish()).toBe(201)
    expect((await waiting).status).toBe(200)
    expect(await waitingNow()).toContain('apiserver_current_inqueue_requests{request_kind="readOnly"} 0\n')
    const ofLevel = { PriorityLevelName: 'global-default', ActiveQueues: '1', IsIdle: 'false', IsQuiescing: 'false' }
    expect(levels).toContainEqual(expect.objectContaining({ ...ofLevel, WaitingRequests: '1', ExecutingRequests: '1' }))
    expect(levels).toContainEqual(expect.objectContaining({ PriorityLevelName: 'exempt', WaitingRequests: '<none>' }))
    // The waiting request may have the same queue as the running request.
    const inQueues = queues?.filter(({ PriorityLevelName }) => PriorityLevelName === 'global-default') ?? []
    const sumOf = (column: string) => inQueues.reduce((total, row) => total + Number(row[column]), 0)
    expect(['PendingRequests', 'ExecutingRequests', 'SeatsInUse', 'InitialSeatsSum'].map(sumOf)).toEqual([1, 1, 1, 1])
    const address = { Namespace: 'default', Name: '', APIVersion: 'v1', Resource: 'configmaps', SubResource: '' }
    // The server's controllers may also wait.
    expect(requests?.filter(({ PriorityLevelName }) => PriorityLevelName === 'global-default')).toEqual([
      {
        ...{ PriorityLevelName: 'global-default', FlowSchemaName: 'global-default', FlowDistingsher: 'system:anonymous' },
        ...{ QueueIndex: expect.stringMatching(/^\d+$/), RequestIndexInQueue: '0', ArriveTime: expect.stringMatching(/^20.*Z$/) },
        ...{ InitialSeats: '1', FinalSeats: '0', AdditionalLatency: '0s' },
        ...{ UserName: 'system:anonymous', Verb: 'list', APIPath: inDefault, ...address },
      },
    ])
    expect(await waitingNow()).toContain(`${gauge} 0`)
    expect((await api.get('/metrics')).text).toMatch(
      /apiserver_flowcontrol_request_wait_duration_seconds_count\{priority_level="global-default",flow_schema="global-default",execute="true"\} [1-9]/,
    )
  })

  test('LIM-11: shows waiting requests only to users with the right to read the path, for reads only', async () => {
    const api = await anApi({ anonymousAuth: true })
    const path = '/debug/api_priority_and_fairness/dump_priority_levels'
    expect((await api.as({})('GET', path)).status).toBe(403)
    expect((await api.post(path, {})).status).toBe(405)
    const { text } = await api.get(path)
    const [header = '', ...rows] = text.trimEnd().split('\n')
    expect(header).toMatch(
      /^PriorityLevelName, +ActiveQueues, IsIdle, IsQuiescing, WaitingRequests, ExecutingRequests, DispatchedRequests, /,
    )
    expect(rows.map((row) => row.split(',', 1)[0])).toEqual([
      ...['catch-all', 'exempt', 'global-default', 'leader-election', 'node-high', 'system', 'workload-high', 'workload-low'],
    ])
    // Each column begins below its heading.
    expect(rows.map((row) => row.indexOf('<none>')).filter((at) => at >= 0)).toEqual([header.indexOf('ActiveQueues')])
    const { body } = await api.get('/')
    expect(body['paths']).not.toContain(path)
  })

  test('LIM-11: releases the seat of a watch once the watch has begun', async () => {
    const api = await anApi()
    await api.watch(`${inDefault}?watch=1`)
    const executing = async () => (await api.get('/metrics')).text
    await expect
      .poll(executing)
      .toContain('apiserver_flowcontrol_request_execution_seconds_count{priority_level="exempt",flow_schema="exempt",type="watch"}')
    expect(await executing()).toContain('apiserver_flowcontrol_current_executing_requests{priority_level="exempt",flow_schema="exempt"} 1')
  })
})

describe('without priority and fairness', () => {
  test('LIM-11: without priority and fairness the server has no FlowSchemas, no headers and no dump of queues', async () => {
    const api = await anApi({ flags: ['--enable-priority-and-fairness=false', '--max-requests-inflight=0'] })
    const list = await api.get(`${group}/flowschemas`)
    expect(list.body.items).toEqual([])
    expect(list.headers['x-orch-pf-flowschema-uid']).toBeUndefined()
    expect((await api.get('/debug/api_priority_and_fairness/dump_queues')).status).toBe(404)
  })

  test('LIM-11: one write too many is refused, while reads, watches and administrators continue', async () => {
    const bounds = ['--max-requests-inflight=1', '--max-mutating-requests-inflight=1']
    // Requests of controllers also count.
    const api = await anApi({
      controllers: [],
      flags: ['--authorization-mode=AlwaysAllow', '--enable-priority-and-fairness=false', ...bounds],
      anonymousAuth: true,
    })
    const stranger = api.as({})
    // A watch does not count as a read in flight.
    const watch = httpsRequest(`${api.url}${inDefault}?watch=1`, { ca: api.credentials.ca })
    onTestFinished(() => void watch.destroy())
    const watching = new Promise<number | undefined>((resolve) => watch.once('response', ({ statusCode }) => resolve(statusCode)))
    watch.end()
    expect(await watching).toBe(200)
    const slow = aSlowWrite(api)
    await expect
      .poll(async () => (await api.get('/metrics')).text)
      .toContain('apiserver_current_inflight_requests{request_kind="mutating"} 1')
    const write = { body: configMap({ name: 'x' }) }
    const refused = await stranger('POST', inDefault, write)
    expect(refused).toMatchObject({ status: 429, text: 'Too many requests, please try again later.', headers: { 'retry-after': '1' } })
    expect((await stranger('GET', inDefault)).status).toBe(200)
    expect((await api.post(`${inDefault}?dryRun=All`, configMap({ name: 'y' }))).status).toBe(201)
    expect(await slow.finish()).toBe(201)
    await expect.poll(async () => (await stranger('POST', `${inDefault}?dryRun=All`, write)).status).toBe(201)
  })

  test('LIM-11: priority and fairness with a total limit of zero is refused', async () => {
    await expect(start({ flags: ['--max-requests-inflight=0', '--max-mutating-requests-inflight=0'] })).rejects.toThrow('are both 0')
  })
})
