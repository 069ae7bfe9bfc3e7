import type { StorageService } from '@orch/core/contracts'
import type { ObjectMeta } from '@orch/core/meta'
import { expect, test } from 'vitest'
import { aGateway, merge } from './own-gateway.ts'

const pods = '/api/v1/namespaces/default/pods'
const budgets = '/apis/policy/v1/namespaces/default/poddisruptionbudgets'
const eviction = (deleteOptions?: unknown) => ({ apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'p' }, deleteOptions })

/** A Pod and its budget, and a function that changes the Pod at the given request of an eviction. */
async function anEviction({ phase, budget, change, between }: { phase: string; budget: object; change: object; between: 'get' | 'list' }) {
  let waiting: (() => Promise<unknown>) | undefined
  const interpose = async () => {
    const due = waiting
    waiting = undefined
    await due?.()
  }
  const gateway = await aGateway((storage: StorageService) => ({
    async get(request, context) {
      const answer = await storage.get(request, context)
      if (between === 'get' && request.key.includes('pods/')) await interpose()
      return answer
    },
    list(request, context) {
      const listed = storage.list(request, context)
      return {
        async *[Symbol.asyncIterator]() {
          yield* listed
          if (between === 'list') await interpose()
        },
        close: () => listed.close(),
      }
    },
  }))
  const { call } = gateway
  const metadata = { name: 'p', labels: { app: 'a' } }
  await call('POST', pods, { metadata, spec: { containers: [{ name: 'c', image: 'i' }] } })
  await call('PATCH', `${pods}/p/status`, { status: { phase } }, merge)
  const spec = { minAvailable: 1, selector: { matchLabels: { app: 'a' } } }
  await call('POST', budgets, { metadata: { name: 'b' }, spec })
  const counts = { expectedPods: 3, disruptionsAllowed: 0, observedGeneration: 1, ...budget }
  await call('PATCH', `${budgets}/b/status`, { status: counts }, merge)
  waiting = () => call('PATCH', `${pods}/p/status`, { status: change }, merge)
  return {
    evict: (deleteOptions?: unknown) => call('POST', `${pods}/p/eviction`, eviction(deleteOptions)),
    metadataOfBudget: async (): Promise<ObjectMeta> => (await call('GET', `${budgets}/b`)).body.metadata,
    isThere: async () => (await call('GET', `${pods}/p`)).code === 200,
  }
}

const ready = { conditions: [{ type: 'Ready', status: 'True' }] }
const enough = { currentHealthy: 2, desiredHealthy: 2 }

test('VIRT-06: a pod that is not ready is evicted only at the revision that was checked against its budget', async () => {
  const { evict, isThere } = await anEviction({ phase: 'Running', budget: enough, change: ready, between: 'list' })
  expect(await evict()).toMatchObject({
    code: 429,
    body: {
      reason: 'TooManyRequests',
      details: {
        retryAfterSeconds: 10,
        causes: [{ reason: 'DisruptionBudget', message: 'The disruption budget b is still being processed by the server.' }],
      },
    },
  })
  expect(await isThere()).toBe(true)
})

test('VIRT-06: a pod that becomes ready before its eviction counts for its budget', async () => {
  const budget = { currentHealthy: 1, desiredHealthy: 2 }
  const { evict, isThere } = await anEviction({ phase: 'Pending', budget, change: { phase: 'Running' }, between: 'get' })
  expect(await evict()).toMatchObject({ code: 429, body: { message: expect.stringContaining('it would violate the pod') } })
  expect(await isThere()).toBe(true)
})

test('VIRT-06: a pending pod that changes and stays pending is evicted', async () => {
  const { evict, isThere } = await anEviction({ phase: 'Pending', budget: enough, change: { message: 'm' }, between: 'get' })
  expect((await evict()).code).toBe(201)
  expect(await isThere()).toBe(false)
})

test('VIRT-06: a pod with another uid than requested is a conflict, without a retry', async () => {
  const { evict, isThere } = await anEviction({ phase: 'Pending', budget: enough, change: {}, between: 'get' })
  expect(await evict({ preconditions: { uid: 'other' } })).toMatchObject({ code: 409, body: { reason: 'Conflict' } })
  expect(await isThere()).toBe(true)
})

test('VIRT-06: the server is the manager of the disruption that an eviction takes', async () => {
  const budget = { currentHealthy: 1, desiredHealthy: 2, disruptionsAllowed: 1 }
  const { evict, metadataOfBudget } = await anEviction({ phase: 'Running', budget, change: {}, between: 'list' })
  expect((await evict()).code).toBe(201)
  const { managedFields = [] } = await metadataOfBudget()
  const takers = managedFields.filter(({ fieldsV1 }) => JSON.stringify(fieldsV1).includes('f:disruptionsAllowed'))
  expect(takers.map(({ manager, subresource }) => [manager, subresource])).toEqual([['orch-apiserver', 'status']])
})
