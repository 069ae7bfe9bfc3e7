import { request } from 'node:https'
import { type ClientConfiguration, loadConfiguration } from '@orch/client'
import { findBackend } from '@orch/testkit/backends'
import { describe, expect, test } from 'vitest'
import { type ServerProcess, startProcess } from '../e2e/server-process.ts'
import { createTraced, startTraced, traceId } from './traced-server.ts'

const missing = (await Promise.all([findBackend('etcd'), findBackend('nats-server')])).find(({ kind }) => kind === 'missing')
const reason = missing?.kind === 'missing' ? `[skipped: ${missing.reason}]` : ''
const oneOfEach = ['--distributed', '--gateways=1', '--storages=1', '--watches=1', '--admissions=1']

/** The health URL of each process, from the message of the start. */
function probesOf({ message }: ServerProcess): Map<string, string> {
  const lines = message.matchAll(/^ {2}(storage|watch|admission|controllers)-0 .*?(\S+)$/gm)
  return new Map([...lines].map(([, name = '', address = '']) => [name, address]))
}

async function metricsOf(address: string | undefined): Promise<string> {
  return (await fetch(`http://${address}/metrics`)).text()
}

function gatewayMetrics({ certificateAuthority, clientCertificate, clientKey }: ClientConfiguration, url: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  request(`${url}/metrics`, { ca: certificateAuthority, cert: clientCertificate, key: clientKey }, (response) => {
    let text = ''
    response.on('data', (chunk: Buffer) => {
      text += chunk.toString()
    })
    response.on('end', () => resolve(text))
  })
    .on('error', reject)
    .end()
  return promise
}

/** The value of a sample, with its labels as printed. */
function sample(text: string, name: string): number {
  const line = text.split('\n').find((one) => one.startsWith(`${name} `))
  return Number(line?.slice(name.length + 1))
}

interface Line {
  readonly service?: string
  readonly msg?: string
  readonly call?: string
  readonly path?: string
  readonly requestId?: string
  readonly auditId?: string
  readonly traceId?: string
  readonly spanId?: string
}

function linesOf(text: string): Line[] {
  return text.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as Line] : []))
}

describe.skipIf(missing !== undefined)(`services as processes ${reason}`, () => {
  test('EP-31: each service counts its work, and the time of events from the commit to the client', async () => {
    const server = await startProcess(oneOfEach)
    const configuration = await loadConfiguration(`${server.dataDir}/admin.conf`)
    const maps = server.client.resource({ group: '', version: 'v1', plural: 'configmaps', namespaced: true })
    const events = await maps.watch({ namespace: 'default', resourceVersion: '0' })
    expect(await createTraced(configuration, server.url, 'counted', '00')).toBe(201)
    let seen = ''
    while (seen !== 'counted') {
      const { value } = await events.next()
      if (value !== undefined && value.type !== 'BOOKMARK') seen = value.object.metadata.name ?? ''
    }
    const probes = probesOf(server)
    const gateway = await gatewayMetrics(configuration, server.url)
    expect(sample(gateway, 'watch_event_delay_seconds_count')).toBeGreaterThanOrEqual(1)
    expect(
      sample(gateway, 'orch_rpc_client_duration_seconds_count{service="orch.storage.v1.Storage",method="Commit",code="200"}'),
    ).toBeGreaterThanOrEqual(1)
    expect(gateway).toContain('apiserver_request_total{')

    const storage = await metricsOf(probes.get('storage'))
    expect(sample(storage, 'etcd_request_duration_seconds_count{operation="create",type="core/configmaps"}')).toBeGreaterThanOrEqual(1)
    expect(
      sample(storage, 'orch_rpc_server_duration_seconds_count{service="orch.storage.v1.Storage",method="Commit",code="200"}'),
    ).toBeGreaterThanOrEqual(1)
    expect(sample(storage, 'change_feed_published_changes_total')).toBeGreaterThanOrEqual(1)
    for (const name of ['etcd_db_total_size_in_bytes', 'storage_object_bytes', 'change_feed_publishing'])
      expect(sample(storage, name)).toBeGreaterThanOrEqual(1)

    // The gateway reads the newest state of its bootstrap objects.
    expect(storage).toMatch(/^apiserver_watch_cache_consistent_read_total\{[^}]*success="true",fallback="(?:true|false)"\} [1-9]/m)
    expect(sample(storage, 'apiserver_storage_objects{resource="configmaps"}')).toBeGreaterThanOrEqual(1)
    expect(sample(storage, 'apiserver_resource_objects{group="",resource="configmaps"}')).toBeGreaterThanOrEqual(1)
    expect(storage).toMatch(/^apiserver_storage_objects\{resource="clusterroles\.rbac\.[^"]+"\} [1-9]/m)

    const watch = await metricsOf(probes.get('watch'))
    expect(sample(watch, 'watch_feed_delay_seconds_count')).toBeGreaterThanOrEqual(1)
    // After a second of silence the feed comes from storage.
    await expect.poll(async () => sample(await metricsOf(probes.get('watch')), 'watch_feed_mode{source="published"}')).toBe(1)
    for (const name of ['watch_feed_gap_fills_total', 'watch_feed_lag_revisions', 'orch_rpc_server_duration_seconds'])
      expect(watch).toContain(`# TYPE ${name} `)

    expect(await metricsOf(probes.get('admission'))).toContain(
      'orch_rpc_server_duration_seconds_count{service="orch.admission.v1.Admission"',
    )
    await expect.poll(async () => sample(await metricsOf(probes.get('controllers')), 'controllers_leading')).toBe(1)
    expect(await server.stop()).toMatchObject({ code: 0 })
  })

  test('CARD-20, CARD-22: the logs of every service that a request passes name the request and its trace', async () => {
    const { server, configuration } = await startTraced([...oneOfEach, '--log-format=json', '--log-level=debug'])
    expect(await createTraced(configuration, server.url, 'logged', '01')).toBe(201)
    const { error: log } = await server.stop()
    const lines = linesOf(log).filter((line) => line.traceId === traceId)
    const answered = lines.filter(({ service, msg }) => service === 'gateway' && msg === 'request')
    expect(answered).toMatchObject([
      { auditId: 'id-of-logged', path: '/api/v1/namespaces/default/configmaps', spanId: expect.stringMatching(/^[0-9a-f]{16}$/) },
    ])
    const calls = lines.filter(({ msg }) => msg === 'call').map(({ service, call, requestId }) => ({ service, call, requestId }))
    expect(calls).toContainEqual({ service: 'storage', call: 'orch.storage.v1.Storage/Commit', requestId: 'id-of-logged' })
    expect(calls).toContainEqual({ service: 'admission', call: 'orch.admission.v1.Admission/Admit', requestId: 'id-of-logged' })
  })
})
