import type { Transport, TransportRequest, TransportResponse } from '@orch/client'
import { notFound } from '@orch/core/meta'
import { type Log, silentLog } from '@orch/platform'
import { createFakeClock } from '@orch/testkit'
import { expect, onTestFinished, test, vi } from 'vitest'
import { answer, testContext } from '../controller-testing.ts'
import { quotaController, type ServedResources } from './quota-controller.ts'

const resourceNamed = (plural: string) => ({ group: '', version: 'v1', plural, isNamespaced: true, verbs: ['list', 'watch'] })
const catalogue = { resources: ['pods', 'secrets', 'services'].map(resourceNamed) } as unknown as ServedResources

const aList = (items: object[]) => answer(200, { kind: 'List', apiVersion: 'v1', metadata: { resourceVersion: '5' }, items })

const aQuota = (namespace: string, ...counted: string[]) => ({
  ...{ apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'q', namespace, resourceVersion: '1' } },
  spec: { hard: Object.fromEntries(counted.map((name) => [name, '5'])) },
})

const within = { timeout: 90_000 }

/** The controller with a server that has these quotas, answers lists as given, and sends no watch events. */
function aController(quotas: object[], list: (path: string) => Promise<TransportResponse>) {
  const written: string[] = []
  const failures: unknown[] = []
  const silence = ({ signal }: TransportRequest) =>
    new Promise<never>((_, reject) => signal?.addEventListener('abort', () => reject(new Error('aborted'))))
  const ending = new AbortController()
  const clock = createFakeClock()
  const send: Transport['send'] = async (request) => {
    const { method, path } = request
    if (method === 'PUT') written.push(path.replace(/\?.*/, ''))
    if (method === 'PUT') return answer(200, {})
    if (path.includes('watch=true')) return silence(request)
    return path.startsWith('/api/v1/resourcequotas?') ? aList(quotas) : list(path)
  }
  const log: Log = { ...silentLog, debug: (fields) => failures.push(fields) }
  const running = quotaController(catalogue).run(testContext(send, { clock, log, signal: ending.signal }))
  onTestFinished(async () => {
    ending.abort()
    await running
  })
  return { written, failures, clock }
}

test('KIND-RQ-13: a failed list does not stop the status updates of other quotas', async () => {
  const quotas = ['a', 'b', 'c', 'd', 'e', 'f'].map((namespace) => aQuota(namespace, 'secrets'))
  const { written, clock } = aController([...quotas, aQuota('z', 'pods')], async (path) =>
    path.includes('/secrets?') ? answer(404, notFound({ group: '', resource: 'secrets' }, '').status) : aList([]),
  )
  await vi.waitFor(() => {
    clock.advance(1_000)
    expect(new Set(written)).toEqual(new Set(['/api/v1/namespaces/z/resourcequotas/q/status']))
  }, within)
})

test('only a few collections are listed at once, for any number of quotas', async () => {
  let atOnce = 0
  let most = 0
  const namespaces = Array.from({ length: 50 }, (_, index) => `n${index}`)
  const { written, failures } = aController(
    namespaces.map((namespace) => aQuota(namespace, 'pods', 'secrets', 'services')),
    async () => {
      most = Math.max(most, ++atOnce)
      await new Promise((resolve) => setImmediate(resolve))
      atOnce -= 1
      return aList([])
    },
  )
  await vi.waitFor(() => expect(new Set(written).size).toBe(50), within)
  expect(most).toBe(4)
  // The usage of a quota is not written before all its collections have been listed.
  expect(failures).toEqual([])
})
