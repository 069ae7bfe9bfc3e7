import { join } from 'node:path'
import { ApiextensionsV1Api, CoreV1Api, CustomObjectsApi, KubeConfig, type KubernetesObject, makeInformer } from '@kubernetes/client-node'
import { freePorts } from '@orch/platform/backends'
import { expect, onTestFinished, test } from 'vitest'
import { startProcess } from './server-process.ts'

test('the informer of @kubernetes/client-node continues after a restart of the server', async () => {
  const flags = ['--profile=kubernetes']
  // A port that no other program receives while the server is down.
  const [port] = await freePorts(1)
  const first = await startProcess([...flags, `--secure-port=${port}`])
  const config = new KubeConfig()
  config.loadFromFile(join(first.dataDir, 'admin.conf'))
  const api = config.makeApiClient(CoreV1Api)
  const informer = makeInformer(config, '/api/v1/namespaces/default/configmaps', () =>
    api.listNamespacedConfigMap({ namespace: 'default' }),
  )
  onTestFinished(() => informer.stop())
  const seen = new Set<string>()
  const waiting = new Map<string, () => void>()
  informer.on('add', ({ metadata }) => {
    const name = metadata?.name ?? ''
    seen.add(name)
    waiting.get(name)?.()
  })
  const added = (name: string) => (seen.has(name) ? Promise.resolve() : new Promise<void>((resolve) => waiting.set(name, resolve)))
  // This informer ends on an error; its user must restart it.
  const ended = new Promise<void>((resolve) => informer.on('error', () => resolve()))
  await informer.start()
  await api.createNamespacedConfigMap({ namespace: 'default', body: { metadata: { name: 'before' } } })
  await added('before')

  first.signal('SIGKILL')
  await first.exited
  await ended
  await startProcess([...flags, `--secure-port=${port}`], { dataDir: first.dataDir })
  await informer.start()
  await api.createNamespacedConfigMap({ namespace: 'default', body: { metadata: { name: 'after' } } })
  await added('after')
  // The server may create this object before or after the others.
  seen.delete('kube-root-ca.crt')
  expect([...seen].sort()).toEqual(['after', 'before'])
})

test('CRD-156: the informer continues for a custom kind too, whose definition is served after the restart', async () => {
  const flags = ['--profile=kubernetes']
  const [port] = await freePorts(1)
  const first = await startProcess([...flags, `--secure-port=${port}`])
  const config = new KubeConfig()
  config.loadFromFile(join(first.dataDir, 'admin.conf'))
  const place = { group: 'example.com', version: 'v1', plural: 'widgets' }
  const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }]
  const names = { plural: 'widgets', kind: 'Widget' }
  await config.makeApiClient(ApiextensionsV1Api).createCustomResourceDefinition({
    body: {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'widgets.example.com' },
      spec: { group: 'example.com', scope: 'Cluster', names, versions },
    },
  })
  const objects = config.makeApiClient(CustomObjectsApi)
  const create = (name: string) =>
    objects.createClusterCustomObject({ ...place, body: { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name } } })
  const informer = makeInformer<KubernetesObject>(config, '/apis/example.com/v1/widgets', () => objects.listClusterCustomObject(place))
  onTestFinished(() => informer.stop())
  const events: string[] = []
  for (const verb of ['add', 'delete'] as const) informer.on(verb, ({ metadata }) => void events.push(`${verb} ${metadata?.name}`))
  const ended = new Promise<void>((resolve) => informer.on('error', () => resolve()))
  await informer.start()
  await create('before')
  await create('gone')
  await expect.poll(() => events).toEqual(['add before', 'add gone'])

  first.signal('SIGKILL')
  await first.exited
  await ended
  await startProcess([...flags, `--secure-port=${port}`], { dataDir: first.dataDir })
  await objects.deleteClusterCustomObject({ ...place, name: 'gone' })
  await informer.start()
  await create('after')
  await expect.poll(() => events).toEqual(['add before', 'add gone', 'delete gone', 'add after'])
})
