import { createClient } from '@orch/client'
import { namesOf } from '@orch/core/names'
import { schedulingRules } from '@orch/core/scheduling'
import type { ResourceClaim } from '@orch/core/workloads'
import { silentLog } from '@orch/platform'
import { createFakeClock } from '@orch/testkit'
import { expect, test } from 'vitest'
import { ClaimBindings } from './claim-bindings.ts'

test('the wait for the devices of a claim that another client has deallocated ends after ten minutes', async () => {
  const names = namesOf('kubernetes')
  const clock = createFakeClock()
  const client = createClient({ send: () => Promise.reject(new Error('no request is expected')), close() {} })
  const context = { client, clock, log: silentLog, names, signal: new AbortController().signal }
  const claim: ResourceClaim = {
    apiVersion: 'resource.k8s.io/v1',
    kind: 'ResourceClaim',
    metadata: { name: 'gpu', namespace: 'default' },
    spec: { devices: { requests: [] } },
    status: {},
  }
  const devices = { assume() {}, forget() {}, resourceClaim: () => claim }
  const bindings = new ClaimBindings(context, devices, schedulingRules({ names, level: 37, isGateOn: () => true }))
  let outcome: unknown
  void bindings.prepare([claim]).catch((error: unknown) => {
    outcome = error
  })
  const pass = async (seconds: number) => {
    for (let passed = 0; passed < seconds; passed += 1) {
      clock.advance(1_000)
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  await pass(600)
  expect(outcome).toBe(undefined)
  await pass(1)
  expect(outcome).toEqual(new Error('device binding timeout: context deadline exceeded'))
})
