import { join } from 'node:path'
import { KubeConfig } from '@kubernetes/client-node'
import { expect, test } from 'vitest'
import { aWebhookServer } from '../admission/webhook-server.ts'
import { convertingSizes, runController } from './controller-life.ts'
import { startProcess } from './server-process.ts'

const count = Number(process.env['ORCH_CHAOS_OBJECTS'] ?? 1_000)

test(`a controller of @kubernetes/client-node reconciles ${count} objects while their definition is changed and deleted`, async () => {
  const { dataDir } = await startProcess(['--profile=kubernetes'])
  const hook = await aWebhookServer(convertingSizes)
  const config = new KubeConfig()
  config.loadFromFile(join(dataDir, 'admin.conf'))
  const begunMs = performance.now()
  const life = await runController(config, { count, hook })
  process.stdout.write(`${count} objects in ${((performance.now() - begunMs) / 1_000).toFixed(1)} s\n`)
  expect(life).toEqual({
    errors: [],
    reconciled: count,
    listed: ['v1', 'v2'].map((version) => ({ version, count, colors: ['blue'], observed: true })),
    deleted: count,
    after: 404,
  })
})
