import { KubeConfig } from '@kubernetes/client-node'
import { start } from 'orch'
import { expect, onTestFinished, test } from 'vitest'
import { aWebhookServer } from '../admission/webhook-server.ts'
import { convertingSizes, runController } from './controller-life.ts'

/** `npm run test:chaos -- controller` checks 1,000 objects. */
const count = 30

test('CRD-125, CRD-138, CRD-140, CRD-143: a controller of @kubernetes/client-node reconciles its objects while their definition is changed and deleted', async () => {
  const server = await start({ profile: 'kubernetes', controllers: ['customresourcedefinition'] })
  onTestFinished(() => server.stop())
  const hook = await aWebhookServer(convertingSizes)
  const config = new KubeConfig()
  config.loadFromString(server.kubeconfig)
  expect(await runController(config, { count, hook })).toEqual({
    errors: [],
    reconciled: count,
    listed: ['v1', 'v2'].map((version) => ({ version, count, colors: ['blue'], observed: true })),
    deleted: count,
    after: 404,
  })
})
