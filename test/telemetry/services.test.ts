import { type ClientConfiguration, loadConfiguration } from '@orch/client'
import { findBackend } from '@orch/testkit/backends'
import { describe, expect, test } from 'vitest'
import { type ServerProcess, startProcess } from '../e2e/server-process.ts'
import { ask } from '../http/ask.ts'
import { createTraced } from './traced-server.ts'

const missing = (await Promise.all([findBackend('etcd'), findBackend('nats-server')])).find(({ kind }) => kind === 'missing')
const reason = missing?.kind === 'missing' ? `[skipped: ${missing.reason}]` : ''
const oneOfEach = ['--distributed', '--gateways=1', '--storages=1', '--watches=1', '--admissions=1']

/** The health URL of each process, from the start message. */
function probesOf({ message }: ServerProcess): Map<string, string> {
  const lines = message.matchAll(/^ {2}(storage|watch|admission|controllers)-0 .*?(\S+)$/gm)
  return new Map([...lines].map(([, name = '', address = '']) => [name, address]))
}

async function metricsOf(address: string | undefined): Promise<string> {
  return (await fetch(`http://${address}/metrics`)).text()
}

async function gatewayMetrics({ certificateAuthority, clientCertificate, clientKey }: ClientConfiguration, url: string): Promise<string> {
  return (await ask(`${url}/metrics`, { ca: certificateAuthority, cert: clientCertificate, key: clientKey })).text
}

/** The value of a sample, with its labels as printed. */
function sample(text: string, name: string): number {
  const line = text.split('\n').find((one) => one.startsWith(`${name} `))
  return Number(line?.slice(name.length + 1))
}

describe.skipIf(missing !== undefined)(`services as processes ${reason}`, () => {
  test('EP-31: each count their work, and the time of events from the commit to the client', async () => {
    const server = await startProcess(oneOfEach)
    const configuration = await loadConfiguration(`${server.dataDir}/admin.conf`)
    const maps = server.client.resource({ group: '', version: 'v1', plural: 'configmaps', namespaced: true })
    const events = await maps.watch({ namespace: 'default', resourceVersion: '0' })
    expect(await createTraced(configuration, server.url, { name: 'counted', flags: '00' })).toBe(201)
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

    // The gateway reads the latest state of its bootstrap objects.
    expect(storage).toMatch(/^apiserver_watch_cache_consistent_read_total\{[^}]*success="true",fallback="(?:true|false)"\} [1-9]/m)
    expect(sample(storage, 'apiserver_storage_objects{resource="configmaps"}')).toBeGreaterThanOrEqual(1)
    expect(sample(storage, 'apiserver_resource_objects{group="",resource="configmaps"}')).toBeGreaterThanOrEqual(1)
    expect(storage).toMatch(/^apiserver_storage_objects\{resource="clusterroles\.rbac\.[^"]+"\} [1-9]/m)

    const watch = await metricsOf(probes.get('watch'))
    expect(sample(watch, 'watch_feed_delay_seconds_count')).toBeGreaterThanOrEqual(1)
    // After a second of silence the feed reads from storage.
    await expect.poll(async () => sample(await metricsOf(probes.get('watch')), 'watch_feed_mode{source="published"}')).toBe(1)
    for (const name of ['watch_feed_gap_fills_total', 'watch_feed_lag_revisions', 'orch_rpc_server_duration_seconds'])
      expect(watch).toContain(`# TYPE ${name} `)

    expect(await metricsOf(probes.get('admission'))).toContain(
      'orch_rpc_server_duration_seconds_count{service="orch.admission.v1.Admission"',
    )
    await expect.poll(async () => sample(await metricsOf(probes.get('controllers')), 'controllers_leading')).toBe(1)
    expect(await server.stop()).toMatchObject({ code: 0 })
  })
})
