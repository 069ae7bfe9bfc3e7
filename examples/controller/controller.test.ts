import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loseReply } from 'orch'
import { run } from 'orch/controllers'
import { useForks } from 'orch/node-test'
import { decide, widgetController } from './controller.ts'
import type { V1Widget } from './widgets.ts'

const withServer = useForks({ profile: 'kubernetes', crds: ['widgets.yaml'] })

const widget = (parts: number): V1Widget => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name: 'a', namespace: 'default' },
  spec: { parts },
})
const reference = { apiVersion: 'example.com/v1', kind: 'Widget', name: 'a', namespace: 'default' }

test('a surplus part is deleted', () => {
  const present = ['a-0', 'a-1'].map((name) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } }))
  assert.deepEqual(
    decide(widget(1), present).map(({ kind, object }) => [kind, object.metadata.name]),
    [['delete', 'a-1']],
  )
})

test(
  'a widget gets its parts, and they are deleted with it',
  withServer(async (server) => {
    await using _ = await run([widgetController], { kubeconfig: server.user('controller').kubeconfig })
    await server.client.objects.create(widget(3))
    await server.eventually(reference, { status: { parts: 3 } }, { within: '60s' })
    await server.client.objects.delete(reference)
    await server.eventually({ ...reference, apiVersion: 'v1', kind: 'ConfigMap', name: 'a-0' }, (part) => part === undefined, {
      within: '60s',
    })
  }),
)

test(
  'a create whose answer is lost is not repeated as a second part',
  withServer(async (server) => {
    const controller = server.user('controller')
    controller.faults.add({ on: { verb: 'create', resource: 'configmaps' }, times: 1, effect: loseReply() })
    await using _ = await run([widgetController], { kubeconfig: controller.kubeconfig })
    await server.client.objects.create(widget(2))
    await server.eventually(reference, { status: { parts: 2 } }, { within: '60s' })
  }),
)
