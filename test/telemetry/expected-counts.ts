import type { ClientConfiguration } from '@orch/client'
import { expect } from 'vitest'
import type { ServerProcess } from '../e2e/server-process.ts'
import { ask } from '../http/ask.ts'

interface Ready {
  readonly processes: readonly { readonly process: string; readonly probes: string }[]
}

async function metricsOf(address: string): Promise<string> {
  return (await fetch(`http://${address}/metrics`)).text()
}

async function gatewayMetrics({ certificateAuthority, clientCertificate, clientKey }: ClientConfiguration, url: string): Promise<string> {
  return (await ask(`${url}/metrics`, { ca: certificateAuthority, cert: clientCertificate, key: clientKey })).text
}

/** The sum of the samples with this name and these labels, in the metrics of one or more processes. */
function sample(text: string, name: string): number {
  const values = text.split('\n').flatMap((line) => (line.startsWith(`${name} `) ? [Number(line.slice(name.length + 1))] : []))
  return values.reduce((total, value) => total + value, 0)
}

/** Expects that each process of services apart, whose logs are JSON, has counted its part of a create and its event. */
export async function expectCounts({ url, message }: ServerProcess, configuration: ClientConfiguration): Promise<void> {
  const { processes } = JSON.parse(message) as Ready
  const metricsOfAll = async (service: string) => {
    const own = processes.filter(({ process }) => process.startsWith(`${service}-`))
    return (await Promise.all(own.map(({ probes }) => metricsOf(probes)))).join('\n')
  }
  const gateway = await gatewayMetrics(configuration, url)
  expect(sample(gateway, 'watch_event_delay_seconds_count')).toBeGreaterThanOrEqual(1)
  expect(
    sample(gateway, 'orch_rpc_client_duration_seconds_count{service="orch.storage.v1.Storage",method="Commit",code="200"}'),
  ).toBeGreaterThanOrEqual(1)
  expect(gateway).toContain('apiserver_request_total{')

  const storage = await metricsOfAll('storage')
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

  const watch = await metricsOfAll('watch')
  expect(sample(watch, 'watch_feed_delay_seconds_count')).toBeGreaterThanOrEqual(1)
  // After a second of silence the feed reads from storage.
  await expect.poll(async () => sample(await metricsOfAll('watch'), 'watch_feed_mode{source="published"}')).toBe(1)
  for (const name of ['watch_feed_gap_fills_total', 'watch_feed_lag_revisions', 'orch_rpc_server_duration_seconds'])
    expect(watch).toContain(`# TYPE ${name} `)

  expect(await metricsOfAll('admission')).toContain('orch_rpc_server_duration_seconds_count{service="orch.admission.v1.Admission"')
  await expect.poll(async () => sample(await metricsOfAll('controllers'), 'controllers_leading')).toBe(1)
}
