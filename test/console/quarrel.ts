import type { ApiObject } from '@orch/core/meta'
import type { RunningServer } from 'orch'

/** The story of the walk in docs/how-to/console.md: two controllers overwrite one field of one object in turns without end. */
export async function startQuarrel(server: RunningServer): Promise<{ stop(): Promise<void> }> {
  const map: ApiObject = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'settings', namespace: 'default', finalizers: ['shop.example.com/backup'] },
    ...{ data: { replicas: '2', theme: 'light' } },
  }
  await server.client.objects.create(map, { fieldManager: 'shop-installer' })
  let isOver = false
  const write = async (user: string, replicas: string) => {
    const { objects } = server.user(user).client
    const settings = { apiVersion: 'v1', kind: 'ConfigMap', name: 'settings', namespace: 'default' }
    while (!isOver) {
      await objects.get(settings)
      await objects.patch(settings, { data: { replicas } }, { type: 'merge', fieldManager: user })
      await new Promise((resolve) => setTimeout(resolve, 150))
    }
  }
  const writers = Promise.all([write('shop-operator', '3'), write('autoscaler', '5')])
  return {
    stop: async () => {
      isOver = true
      await writers
    },
  }
}
