import { expect, test } from 'vitest'
import { aNamespace, anApi, created } from '../api/api.ts'
import { aConfiguration, aHook } from './hooks.ts'
import { aWebhookServer, patching } from './webhook-server.ts'

const labels = { app: 'a' }
const container = { name: 'c', image: 'i' }
const statefulSet = {
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name: 'a' },
  spec: { serviceName: 'a', selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers: [container] } } },
}

test.each([[['--emulated-version=1.27']], [['--emulated-version=1.26', '--feature-gates=StatefulSetAutoDeletePVC=true']]])(
  'EMV-03: with %s admission restores a gated field that a webhook has removed, as gateways do',
  async (flags) => {
    const api = await anApi({ flags })
    const namespace = await aNamespace(api)
    const hook = await aWebhookServer(patching(() => [{ op: 'remove', path: '/spec/persistentVolumeClaimRetentionPolicy/whenScaled' }]))
    const rules = [{ operations: ['CREATE'], apiGroups: ['apps'], apiVersions: ['v1'], resources: ['statefulsets'] }]
    await aConfiguration(api, 'mutating', [aHook(hook, namespace, { rules })])
    const { spec } = await created(api, `/apis/apps/v1/namespaces/${namespace}/statefulsets`, statefulSet)
    expect(spec).toMatchObject({ persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' } })
    expect(hook.calls).toHaveLength(1)
  },
)
