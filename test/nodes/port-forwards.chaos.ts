import type { ApiObject } from '@orch/core/meta'
import { type RunningServer, start } from 'orch'
import { expect, onTestFinished, test } from 'vitest'
import { measure } from '../abuse/stalls/meter.ts'
import { channelsTo } from './tunnels.ts'

const count = 1000
const path = '/api/v1/namespaces/default/pods/web/portforward?ports=7000'

async function aForward(server: RunningServer) {
  const client = await channelsTo(server, path, ['v4.channel.k8s.io'])
  if (!('closed' in client)) throw new Error('the port was not forwarded')
  return client
}

test('1,000 simultaneous port forwards all carry data, and release the server and memory when they end', async () => {
  const server = await start({ profile: 'kubernetes', nodes: 1 })
  onTestFinished(() => server.stop())
  server.nodes.script({}, (c) =>
    c.port(7000, async ({ input, write }) => {
      for await (const bytes of input) await write(bytes)
    }),
  )
  await server.client.objects.create({
    ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web', namespace: 'default' } },
    spec: { containers: [{ name: 'main', image: 'img:1' }] },
  } as ApiObject)
  await server.settled({ within: 60_000 })
  const forwards: Awaited<ReturnType<typeof aForward>>[] = []
  const { stallMs } = await measure(async () => {
    while (forwards.length < count) forwards.push(...(await Promise.all(Array.from({ length: 20 }, () => aForward(server)))))
    for (const [at, forward] of forwards.entries()) forward.send(0, `message ${at}`)
    await Promise.all(forwards.map((forward, at) => forward.until(() => forward.textOf(0).endsWith(`message ${at}`))))
  })
  expect(await server.client.objects.get({ apiVersion: 'v1', kind: 'Pod', namespace: 'default', name: 'web' })).toMatchObject({
    status: { phase: 'Running' },
  })
  // The clients run in the same process, so their cost also counts.
  expect(stallMs).toBeLessThan(100)
  for (const { client } of forwards) client.close()
  await Promise.all(forwards.map(({ closed }) => closed))
  expect(await server.leaks()).toEqual([])
})
