import { connect } from 'node:tls'
import { start } from 'orch'
import { expect, onTestFinished, test } from 'vitest'
import { credentialsOf } from './credentials.ts'

const collection = '/api/v1/namespaces/default/configmaps'

test('LIM-12: readers that take nothing of a large list cost little memory', async () => {
  const server = await start({ controllers: [] })
  onTestFinished(() => server.stop())
  const objects = server.client.resource({ group: '', version: 'v1', plural: 'configmaps', namespaced: true })
  const large = 'x'.repeat(1_000_000)
  for (let index = 0; index < 24; index++) {
    await objects.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `c-${index}`, namespace: 'default' }, data: { large } })
  }
  const credentials = await credentialsOf(server)
  const open = () =>
    new Promise<void>((resolve, reject) => {
      const socket = connect(
        { host: '127.0.0.1', port: Number(new URL(server.url).port), ALPNProtocols: ['http/1.1'], ...credentials },
        () => {
          socket.write(`GET ${collection} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
        },
      )
      socket.once('error', reject)
      socket.once('readable', resolve)
      onTestFinished(() => void socket.destroy())
    })
  await open()
  const before = process.memoryUsage()
  await Promise.all(Array.from({ length: 20 }, open))
  const after = process.memoryUsage()
  // Each of them would hold 24 MB, and as much again encrypted.
  expect(after.rss - before.rss).toBeLessThan(20 * 8 * 1024 * 1024)
}, 60_000)
