import { createMetrics } from '@orch/platform'
import { createFakeClock } from '@orch/testkit'
import { expect, test } from 'vitest'
import { ConfiguredEncryption } from './encryption.ts'
import { localTransformer } from './local-keys.ts'
import { observeTransformations } from './transformation-metrics.ts'

const key = 'core/secrets/a/b'

test('encryptions, decryptions and failures are counted with their durations', async () => {
  const metrics = createMetrics({ process: false })
  const clock = createFakeClock()
  const local = localTransformer('aesgcm', { name: 'k', secret: Buffer.alloc(32, 7) })
  const slow = {
    ...local,
    seal: (at: string, plain: Uint8Array) => {
      clock.advance(2)
      return local.seal(at, plain)
    },
  }
  const encryption = new ConfiguredEncryption([{ resources: ['secrets'], transformers: [slow] }])
  encryption.observer = observeTransformations(metrics, clock)
  const sealed = encryption.seal(key, Buffer.from('word'))
  encryption.open(key, sealed)
  encryption.open(key, sealed)
  expect(() => encryption.open('core/secrets/a/c', sealed)).toThrow('cannot be decrypted')
  encryption.seal('core/pods/a/b', Buffer.from('word'))
  const lines = (await metrics.text())
    .split('\n')
    .filter((line) => /^apiserver_storage_transformation_(operations|duration_seconds_(sum|count))/.test(line))
  const of = (type: string, status: string) =>
    `{transformation_type="${type}",transformer_prefix="k8s:enc:aesgcm:v1:k:",status="${status}"}`
  expect(lines).toEqual([
    'apiserver_storage_transformation_duration_seconds_sum{transformation_type="to_storage"} 0.002',
    'apiserver_storage_transformation_duration_seconds_count{transformation_type="to_storage"} 1',
    'apiserver_storage_transformation_duration_seconds_sum{transformation_type="from_storage"} 0',
    'apiserver_storage_transformation_duration_seconds_count{transformation_type="from_storage"} 3',
    `apiserver_storage_transformation_operations_total${of('to_storage', 'OK')} 1`,
    `apiserver_storage_transformation_operations_total${of('from_storage', 'OK')} 2`,
    `apiserver_storage_transformation_operations_total${of('from_storage', 'Unknown')} 1`,
  ])
})
