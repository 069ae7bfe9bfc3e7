import { createClient } from '@orch/client'
import { namesOf } from '@orch/core/names'
import { schedulingRules } from '@orch/core/scheduling'
import type { ResourceClaim } from '@orch/core/workloads'
import { silentLog } from '@orch/platform'
import { createFakeClock } from '@orch/testkit'
import { expect, test } from 'vitest'
import { ClaimBindings } from './claim-bindings.ts'

/** A wait for the devices of a claim without an allocation. */
function aWait(signal: AbortSignal = new AbortController().signal) {
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
  return { clock, waited: bindings.prepare([claim], signal) }
}

test('the wait for the devices of a claim that another client has deallocated ends after ten minutes', async () => {
  const { clock, waited } = aWait()
  let outcome: unknown
  void waited.catch((error: unknown) => {
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

test('the wait for devices ends at once when the signal of its Pod is raised', async () => {
  const ending = new AbortController()
  const { waited } = aWait(ending.signal)
  ending.abort(new Error('the Pod is gone'))
  await expect(waited).rejects.toThrow('the Pod is gone')
})
