import { Agent } from 'node:https'
import { describe, expect, test } from 'vitest'
import { canSharePorts } from '../../services/gateway/src/index.ts'
import { ask } from '../http/ask.ts'
import { startTraced } from '../telemetry/traced-server.ts'

/** A number of connections at which each of two threads receives some. */
const connections = 24

describe.skipIf(!canSharePorts)('traces with two threads', () => {
  test('are recorded by the thread of the request', async () => {
    const { collector, server, configuration } = await startTraced(['--threads=2'])
    const { certificateAuthority: ca, clientCertificate: cert, clientKey: key } = configuration
    const ids = Array.from({ length: connections }, (_, index) => `request-${index}`)
    await Promise.all(
      ids.map((id) =>
        ask(`${server.url}/api/v1/namespaces/default/configmaps`, { agent: new Agent(), ca, cert, key, headers: { 'audit-id': id } }),
      ),
    )
    for (const id of ids) {
      const span = await collector.find(({ name, attributes }) => name === 'list configmaps' && attributes['request.id'] === id)
      expect(span.kind).toBe(2)
    }
    expect(new Set(collector.spans.map(({ service }) => service))).toEqual(new Set(['orch-server']))
  })
})
