import type { ApiObject } from '@orch/core/meta'
import { expect, test } from 'vitest'
import { canSharePorts } from '../../services/gateway/src/index.ts'
import { get, maps, post, startThreaded } from './threaded-server.ts'

const aMap = (name: string): ApiObject => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' } }) as ApiObject
const mapNamed = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', name, namespace: 'default' })

test.skipIf(!canSharePorts)('a thread that ends is replaced, its acknowledged writes are stored, and requests are answered', async () => {
  const server = await startThreaded()
  // Node.js ends the process if a thread terminates while it reads an HTTP/2 request.
  const over = { http1Only: true }
  const first = await server.connect('first', over)
  const other = await server.connect('other', over)
  const acknowledged: string[] = []
  let isOver = false
  const writing = (async () => {
    for (let index = 0; !isOver; index += 1) {
      const answer = await post(other, maps, aMap(`map-${index}`)).catch(() => undefined)
      if (answer?.status === 201) acknowledged.push(`map-${index}`)
    }
  })()
  await expect.poll(() => acknowledged.length).toBeGreaterThanOrEqual(20)
  await server.workers[0]?.worker.terminate()
  isOver = true
  await writing
  const { items } = JSON.parse((await get(first, maps)).text) as { items: ApiObject[] }
  expect(items.map(({ metadata }) => metadata.name)).toEqual(expect.arrayContaining(acknowledged))
  await expect.poll(() => server.workers.length).toBe(2)
  await server.workers[1]?.listening
  const again = await server.connect('other', over)
  expect(await post(again, maps, aMap('afterwards'))).toMatchObject({ status: 201 })
  expect(await first.client.objects.get(mapNamed('afterwards'))).toMatchObject({ metadata: { name: 'afterwards' } })
})
