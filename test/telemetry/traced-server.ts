import { type ClientConfiguration, loadConfiguration } from '@orch/client'
import { aConfigMap } from '@orch/testkit'
import { onTestFinished } from 'vitest'
import { startProcess } from '../e2e/server-process.ts'
import { ask } from '../http/ask.ts'
import { type Collector, openCollector } from './collector.ts'

/** The trace that a client begins. */
export const traceId = '0af7651916cd43dd8448eb211c80319c'
/** The client's span that is the parent of the server's spans. */
export const clientSpan = 'b7ad6b7169203331'

/** A server that sends its spans to a test collector. */
export async function startTraced(flags: readonly string[], more: Record<string, string> = {}) {
  const collector = await openCollector()
  onTestFinished(() => collector.close())
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_BSP_SCHEDULE_DELAY: '100',
    ...more,
  }
  const server = await startProcess(flags, { env })
  return { collector, server, configuration: await loadConfiguration(`${server.dataDir}/admin.conf`) }
}

/**
 * Creates with another name and trace each time until a trace has all these spans. On a busy machine a create may precede the start of a webhook's
 * effect, and its event may come from the history of storage, where no trace is noted.
 */
export async function createUntilTraced(
  collector: Collector,
  names: readonly string[],
  create: (created: { readonly name: string; readonly trace: string }) => Promise<void>,
) {
  for (let attempt = 1; ; attempt += 1) {
    const created = { name: `traced-${attempt}`, trace: attempt.toString(16).padStart(32, '0') }
    await create(created)
    const spans = names.map((name) => collector.find((span) => span.traceId === created.trace && span.name === name, 10_000))
    const found = await Promise.allSettled(spans)
    const missing = found.find((one) => one.status === 'rejected')
    if (missing === undefined) return created
    if (attempt === 5) throw missing.reason
  }
}

/** A create with a trace that the client begins. */
export async function createTraced(
  { certificateAuthority: ca, clientCertificate: cert, clientKey: key }: ClientConfiguration,
  url: string,
  { name, flags, trace = traceId }: { readonly name: string; readonly flags: string; readonly trace?: string },
) {
  const headers = { 'audit-id': `id-of-${name}`, traceparent: `00-${trace}-${clientSpan}-${flags}` }
  const created = { method: 'POST', ca, cert, key, headers, body: aConfigMap({ name }) }
  return (await ask(`${url}/api/v1/namespaces/default/configmaps`, created)).code
}
