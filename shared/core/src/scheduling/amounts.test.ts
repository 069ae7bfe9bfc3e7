import { expect, test } from 'vitest'
import { amountsOf } from './amounts.ts'

const requests = { cpu: '4', memory: '1Gi' }
const status = { name: 'main', allocatedResources: { cpu: '1', memory: '2Gi' }, resources: { requests: { cpu: '2' } } }

test.each([
  ['counts the larger amount', undefined, { cpu: 4000, memory: 2 * 2 ** 30 }],
  ['counts the larger amount while it is deferred', 'Deferred', { cpu: 4000, memory: 2 * 2 ** 30 }],
  ['counts what its node has allocated where the resize is infeasible', 'Infeasible', { cpu: 2000, memory: 2 * 2 ** 30 }],
])('a resized Pod %s', (_, reason, requested) => {
  const container = { name: 'main', resources: { requests } }
  const conditions =
    reason === undefined ? [] : [{ type: 'PodResizePending', status: 'True', reason, lastProbeTime: null, lastTransitionTime: null }]
  const rest = { lastState: {}, state: {}, image: '', imageID: '', ready: true, restartCount: 0 }
  const own = { containerStatuses: [{ ...rest, ...status }], conditions }
  expect(amountsOf({ spec: { containers: [container] }, status: own }).requested).toMatchObject(requested)
  const sidecar = { ...container, restartPolicy: 'Always' as const }
  const init = { initContainerStatuses: own.containerStatuses, conditions }
  expect(amountsOf({ spec: { containers: [], initContainers: [sidecar] }, status: init }).requested).toMatchObject(requested)
})
