import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { connect } from 'node:http2'
import { request as httpsRequest } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { printConfiguration } from '@orch/client'
import { printProtobuf } from '@orch/core/protobuf'
import { typeNameAt } from '@orch/core/schema'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Api, configMap, configMapsIn } from '../api/api.ts'
import { sendRaw } from '../api/raw.ts'
import { aFolder, anAuditedApi, aPolicy, type WrittenEvent } from './audited.ts'

const inDefault = configMapsIn('default')
const protobuf = 'application/vnd.orch.protobuf'
/** Only the tests' requests count; the server and its controllers also work in the namespace. */
const rules = [
  { level: 'None', users: ['system:apiserver'] },
  { level: 'RequestResponse', namespaces: ['default'] },
]
const everything = aPolicy(rules)
const complete = aPolicy(rules, { omitStages: ['RequestReceived'] })

/** The fields of an audit event that stay the same in all stages of a request. */
const headOf = ({ auditID, requestURI, userAgent, sourceIPs, requestReceivedTimestamp }: WrittenEvent) => ({
  auditID,
  requestURI,
  userAgent,
  sourceIPs,
  requestReceivedTimestamp,
})

describe('the audit events of a watch', () => {
  const target = `${inDefault}?watch=1&timeoutSeconds=300`

  const expectOneHead = (events: readonly WrittenEvent[]) => {
    expect(events.map(({ stage }) => stage)).toEqual(['RequestReceived', 'ResponseStarted', 'ResponseComplete'])
    const [first, ...later] = events.map(headOf)
    expect(first).toMatchObject({ requestURI: target, userAgent: 'watcher/1', sourceIPs: ['127.0.0.1'] })
    for (const head of later) expect(head).toEqual(first)
  }

  test('AUDIT-08: have its target, its source and its time', async () => {
    const audited = await anAuditedApi(everything)
    expect((await audited.api.watch(target, { 'user-agent': 'watcher/1' })).status).toBe(200)
    expectOneHead(await audited.events())
  })

  test('AUDIT-08: are complete over HTTP/2 too', async () => {
    const audited = await anAuditedApi(everything)
    const session = connect(audited.api.url, audited.api.credentials)
    onTestFinished(() => session.destroy())
    const stream = session.request({ ':path': target, 'user-agent': 'watcher/1' })
    stream.on('error', () => {})
    await once(stream, 'response')
    expectOneHead(await audited.events())
  })
})

describe('the bodies in audit events', () => {
  test('AUDIT-08: of Protobuf are written as JSON, also for parts of an object', async () => {
    const audited = await anAuditedApi(complete)
    const { api } = audited
    const post = (target: string, apiVersion: string, kind: string, type: string, object: object) =>
      sendRaw(api, 'POST', target, {
        headers: { 'content-type': protobuf, accept: protobuf },
        body: printProtobuf({ apiVersion, kind, type, object }),
      })
    const made = await post(inDefault, 'v1', 'ConfigMap', 'core/v1.ConfigMap', { metadata: { name: 'a' }, data: { k: 'v' } })
    expect(made.status).toBe(201)
    const eviction = '/api/v1/namespaces/default/pods/none/eviction'
    expect((await post(eviction, 'policy/v1', 'Eviction', 'policy/v1.Eviction', { metadata: { name: 'none' } })).status).toBe(404)
    const [create, evict] = await audited.events()
    expect(create?.requestObject).toEqual({
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: { name: 'a' },
      data: { k: 'v' },
    })
    expect(Object.keys(create?.responseObject?.['metadata'] as object)).toEqual([
      'name',
      'namespace',
      'uid',
      'resourceVersion',
      'creationTimestamp',
      'managedFields',
    ])
    expect(evict).toMatchObject({
      objectRef: { resource: 'pods', subresource: 'eviction', namespace: 'default', name: 'none' },
      requestObject: { kind: 'Eviction', apiVersion: 'policy/v1', metadata: { name: 'none' } },
    })
  })

  test('AUDIT-08: of Protobuf have the current fields', async () => {
    const audited = await anAuditedApi(complete)
    const type = typeNameAt('core/v1.Service', 37)
    const spec = { trafficDistribution: 'PreferClose', ports: [{ port: 80 }] }
    const body = printProtobuf({ apiVersion: 'v1', kind: 'Service', type, object: { metadata: { name: 'web' }, spec } })
    const target = '/api/v1/namespaces/default/services'
    const made = await sendRaw(audited.api, 'POST', target, { headers: { 'content-type': protobuf, accept: protobuf }, body })
    expect(made.status).toBe(201)
    const [create] = await audited.events()
    expect(create?.requestObject).toMatchObject({ spec: { trafficDistribution: 'PreferClose' } })
    expect(create?.responseObject).toMatchObject({ spec: { trafficDistribution: 'PreferClose' } })
  })

  test('AUDIT-08: of a Table, YAML and delete options are written unchanged', async () => {
    const audited = await anAuditedApi(complete)
    const { api } = audited
    const yaml = 'metadata:\n  name: a\ndata:\n  k: v\n'
    await api.send('POST', inDefault, { body: yaml, headers: { 'content-type': 'application/yaml' } })
    await api.get(`${inDefault}/a`, { accept: 'application/json;as=Table;v=v1;g=meta.orch.io' })
    await api.delete(`${inDefault}/a`, { propagationPolicy: 'Background' })
    const [create, get, remove] = await audited.events()
    expect(create?.requestObject).toEqual({ metadata: { name: 'a' }, data: { k: 'v' } })
    expect(get?.responseObject).toMatchObject({ kind: 'Table', rows: [{ cells: ['a', 1, expect.any(String)] }] })
    expect(remove).toMatchObject({ verb: 'delete', requestObject: { propagationPolicy: 'Background' } })
  })
})

/** Begins a write and holds back the body. The write occupies a place until the body arrives. */
function beginWrite(api: Api): () => Promise<void> {
  const body = JSON.stringify(configMap({ name: 'held' }))
  const headers = { 'content-type': 'application/json', 'content-length': String(body.length) }
  const request = httpsRequest(new URL(`${api.url}${inDefault}`), { method: 'POST', headers, ca: api.credentials.ca })
  const answered = new Promise<void>((resolve, reject) => {
    request.on('response', (response) => response.resume().on('end', resolve)).on('error', reject)
  })
  request.write(body.slice(0, 1))
  return () => {
    request.end(body.slice(1))
    return answered
  }
}

describe('the audit event of a refused request', () => {
  test('AUDIT-08: has its code and its Status, for a refusal in any step', async () => {
    const audited = await anAuditedApi(everything, { anonymousAuth: true })
    const { api } = audited
    const stranger = api.as({})
    await stranger('GET', inDefault)
    await stranger('GET', inDefault, { headers: { authorization: 'Bearer wrong' } })
    await api.get(`${inDefault}?timeout=soon`)
    await api.get(`${inDefault}?limit=many`)
    await api.send('POST', inDefault, { body: '{', headers: { 'content-type': 'application/json' } })
    await api.send('POST', inDefault, { body: 'x', headers: { 'content-type': 'text/plain' } })
    await api.post(inDefault, configMap({ name: 'Not_A_Name' }))
    await api.get('/api/v1/namespaces/default/nothings')
    await api.send('DELETE', '/api/v1/namespaces/default/bindings')
    await api.get(`${inDefault}/a`, { 'impersonate-uid': '1' })
    const last = (await audited.events()).filter(({ stage }) => stage !== 'RequestReceived')
    expect(last.map(({ stage, responseStatus }) => `${stage} ${responseStatus?.['code']} ${responseStatus?.['reason'] ?? ''}`)).toEqual([
      'ResponseComplete 403 Forbidden',
      'ResponseStarted 401 Unauthorized',
      'ResponseStarted 400 BadRequest',
      'ResponseComplete 400 BadRequest',
      'ResponseComplete 400 BadRequest',
      'ResponseComplete 415 UnsupportedMediaType',
      'ResponseComplete 422 Invalid',
      'ResponseComplete 404 NotFound',
      'ResponseComplete 405 MethodNotAllowed',
      'ResponseComplete 400 BadRequest',
    ])
  })

  test('AUDIT-08: exists for too many requests', async () => {
    const flags = ['--authorization-mode=AlwaysAllow', '--enable-priority-and-fairness=false', '--max-mutating-requests-inflight=1']
    const audited = await anAuditedApi(complete, { anonymousAuth: true, flags })
    const finish = beginWrite(audited.api)
    const more = () => audited.api.as({})('POST', `${inDefault}?dryRun=All`, { body: configMap({ name: 'b' }) })
    await expect.poll(async () => (await more()).status).toBe(429)
    await finish()
    const events = await audited.events()
    expect(events.filter(({ responseStatus }) => responseStatus?.['code'] === 429)).toMatchObject([
      { stage: 'ResponseComplete', user: { username: 'system:anonymous' }, objectRef: { resource: 'configmaps' } },
    ])
  })

  test('AUDIT-08: exists for a failed authorization', async () => {
    const decider = createServer((_request, response) => void response.writeHead(404).end()).listen(0, '127.0.0.1')
    await once(decider, 'listening')
    onTestFinished(() => void decider.close())
    const file = join(aFolder(), 'webhook.conf')
    const server = `http://127.0.0.1:${(decider.address() as AddressInfo).port}/`
    writeFileSync(file, printConfiguration({ cluster: 'c', user: 'u', configuration: { server } }))
    const flags = ['--authorization-mode=Webhook', `--authorization-webhook-config-file=${file}`]
    const audited = await anAuditedApi(complete, { flags, controllers: [] })
    const { status } = await audited.api.get(inDefault, { 'impersonate-user': 'jane' })
    expect(status).toBe(500)
    expect((await audited.events())[0]).toMatchObject({
      responseStatus: { code: 500 },
      impersonatedUser: { username: 'jane' },
      annotations: { 'authorization.orch.io/decision': 'forbid', 'authorization.orch.io/reason': 'internal error' },
    })
  })
})
