import {
  averageReplicas,
  decideAutoscaler,
  evaluateMetric,
  limitReplicas,
  noMemory,
  type Pod,
  type PodMetrics,
  proposeForResource,
  type Timed,
  valueReplicas,
} from '@orch/core/workloads'
import { expect, test } from 'vitest'
import { byId, type Row, rowsOf } from './rows.ts'

const nowMs = Date.UTC(2026, 0, 1)
const tolerance = { down: 0, up: 0 }
const timeOf = (secondsAgo: number) => new Date(nowMs - secondsAgo * 1000).toISOString().replace('.000Z', 'Z')

interface UtilizationRow extends Row {
  readonly pods: readonly { readonly state: string; readonly requestMilli: number; readonly usageMilli?: number }[]
  readonly currentReplicas: number
  readonly targetUtilization: number
  readonly replicas: number
  readonly utilization: number
  readonly averageMilli: number
  readonly error?: string
}

const phases: Readonly<Record<string, string>> = { pending: 'Pending', failed: 'Failed' }

/** A Pod that has been ready for long unless its state says otherwise. */
function podOf({ state, requestMilli }: UtilizationRow['pods'][number], index: number): Pod {
  const startTime = timeOf(state === 'young' ? 20 : 3600)
  const requests: Record<string, string> = requestMilli > 0 ? { cpu: `${requestMilli}m` } : {}
  const status = state === 'unready' ? 'False' : 'True'
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `p${index}`, ...(state === 'deleted' && { deletionTimestamp: timeOf(0) }) },
    spec: { containers: [{ name: 'c', resources: { requests } }] },
    status: {
      phase: phases[state] ?? 'Running',
      startTime,
      conditions: [{ type: 'Ready', status, lastTransitionTime: startTime, lastProbeTime: null }],
    },
  }
}

test('WL-HPA-15, WL-HPA-16, WL-HPA-18, WL-HPA-19: replicas for a utilization equal those of kube-controller-manager', () => {
  const rows = rowsOf<UtilizationRow>('hpa-replicas', 'resourceUtilization')
  const found = byId(rows, ({ pods, currentReplicas, targetUtilization }) => {
    const items = pods.flatMap(({ usageMilli }, index): PodMetrics[] => {
      const containers = [{ name: 'c', usage: { cpu: `${usageMilli}m` } }]
      return usageMilli === undefined ? [] : [{ metadata: { name: `p${index}` }, timestamp: timeOf(0), window: '60s', containers }]
    })
    const counted = { pods: pods.map(podOf), currentReplicas, tolerance, initializationMs: 300_000, readinessDelayMs: 30_000 }
    const use = { ...counted, namespace: 'a', statusReplicas: currentReplicas, level: 37, hasPodRequests: true }
    const target = { type: 'Utilization', averageUtilization: targetUtilization }
    const proposal = proposeForResource({ name: 'cpu', target }, { kind: 'read', value: { kind: 'pods', items } }, use, nowMs)
    if (proposal.kind === 'error') return { error: proposal.message }
    const { replicas, utilization, averageMilli } = proposal
    return { replicas, utilization, averageMilli }
  })
  const expected = byId(rows, ({ error, replicas, utilization, averageMilli }) =>
    error === undefined ? { replicas, utilization, averageMilli } : { error },
  )
  expect(found).toEqual(expected)
})

/** The proposal for a target of 100 in millicores, or 50 % of the requests, at a level. */
function proposalAt(level: number, use: { pods: readonly Pod[]; items?: readonly PodMetrics[]; isValue?: boolean; container?: string }) {
  const { pods, items = [], isValue = false, container } = use
  const counted = { pods, currentReplicas: pods.length, tolerance, initializationMs: 300_000, readinessDelayMs: 30_000 }
  const target = isValue ? { type: 'AverageValue', averageValue: '100m' } : { type: 'Utilization', averageUtilization: 50 }
  const answer = { kind: 'read', value: { kind: 'pods', items } } as const
  const all = { ...counted, namespace: 'a', statusReplicas: pods.length, level, hasPodRequests: false }
  const proposal = proposeForResource({ name: 'cpu', target, container }, answer, all, nowMs)
  return proposal.kind === 'error' ? proposal.message : proposal.replicas
}

test('WL-HPA-15: below 1.26, 1.27 and 1.34 the reasons of an unknown utilization differ', () => {
  const items = [{ metadata: { name: 'p0' }, timestamp: timeOf(0), window: '60s', containers: [{ name: 'c', usage: { cpu: '1m' } }] }]
  const messages = (requestMilli: number) =>
    [25, 26, 27, 33, 34].map((level) => proposalAt(level, { pods: [podOf({ state: 'pending', requestMilli }, 0)], items }))
  const newText = 'did not receive metrics for targeted pods (pods might be unready)'
  const oldText = 'did not receive metrics for any ready pods'
  expect(messages(100)).toEqual([oldText, oldText, newText, newText, newText])
  const noRequest = 'missing request for cpu in container c of Pod p0'
  expect(messages(0)).toEqual(['missing request for cpu', noRequest, noRequest, noRequest, newText])
})

test('WL-HPA-16: below 1.35 a Pod without the measured container has a request of zero', () => {
  const pods = [podOf({ state: '', requestMilli: 100 }, 0)]
  const items = [{ metadata: { name: 'p0' }, timestamp: timeOf(0), window: '60s', containers: [{ name: 'side', usage: { cpu: '1m' } }] }]
  const without = 'no metrics returned matched known pods'
  const absent = 'container side not found in Pod p0'
  expect([34, 35].map((level) => proposalAt(level, { pods, items, container: 'side' }))).toEqual([without, absent])
})

test('WL-HPA-20: below 1.28 a Pod without a sample counts as using nothing, even if the others use the target value', () => {
  const pods = [0, 1, 2].map((index) => podOf({ state: '', requestMilli: 100 }, index))
  const items = [0, 1].map((index) => ({
    metadata: { name: `p${index}` },
    timestamp: timeOf(0),
    window: '60s',
    containers: [{ name: 'c', usage: { cpu: '100m' } }],
  }))
  expect([27, 28].map((level) => proposalAt(level, { pods, items, isValue: true }))).toEqual([2, 3])
})

interface ValueRow extends Row {
  readonly currentReplicas: number
  readonly readyPods: number
  readonly targetMilli: number
  readonly valueMilli?: number
  readonly valuesMilli?: readonly number[]
  readonly replicas: number
}

interface AverageRow extends Row {
  readonly statusReplicas: number
  readonly targetMilli: number
  readonly valuesMilli: readonly number[]
  readonly replicas: number
  readonly usage: number
}

const sumOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0)

test('WL-HPA-21, WL-HPA-22, WL-HPA-23: replicas for values of objects and external metrics equal those of kube-controller-manager', () => {
  const values = [...rowsOf<ValueRow>('hpa-replicas', 'externalValue'), ...rowsOf<ValueRow>('hpa-replicas', 'objectValue')]
  const replicasFor = (row: ValueRow) => valueReplicas(row.valueMilli ?? sumOf(row.valuesMilli ?? []), { ...row, tolerance })
  expect(byId(values, replicasFor)).toEqual(byId(values, ({ replicas }) => replicas))
  const averages = rowsOf<AverageRow>('hpa-replicas', 'externalAverageValue')
  const averageFor = (row: AverageRow) => averageReplicas(sumOf(row.valuesMilli), { ...row, tolerance })
  expect(byId(averages, averageFor)).toEqual(byId(averages, ({ replicas, usage }) => ({ replicas, averageMilli: usage })))
})

interface Change {
  readonly change?: number
  readonly value?: number
  readonly secondsAgo: number
}

interface BehaviorRow extends Row {
  readonly wanted: number
  readonly currentReplicas: number
  readonly minReplicas: number
  readonly maxReplicas: number
  readonly behavior?: Readonly<Record<'scaleUp' | 'scaleDown', object>>
  readonly recommendations?: readonly Change[]
  readonly scaledUp?: readonly Change[]
  readonly scaledDown?: readonly Change[]
  readonly replicas: number
  readonly conditions: readonly string[]
}

const percent = { type: 'Percent', value: 100, periodSeconds: 15 }
const upDefaults = {
  stabilizationWindowSeconds: 0,
  selectPolicy: 'Max',
  policies: [{ type: 'Pods', value: 4, periodSeconds: 15 }, percent],
}
const downDefaults = { selectPolicy: 'Max', policies: [percent] }

test('WL-HPA-24, WL-HPA-26, WL-HPA-27, WL-HPA-28: windows, policies and bounds limit replicas as in kube-controller-manager', () => {
  const rows = rowsOf<BehaviorRow>('hpa-replicas', 'behavior')
  const timed = (changes: readonly Change[] = []): Timed[] =>
    changes.map(({ change, value = change ?? 0, secondsAgo }) => ({ value, atMs: nowMs - secondsAgo * 1000 }))
  const found = byId(rows, ({ behavior, recommendations, scaledUp, scaledDown, ...row }) => {
    const rules = behavior && { scaleUp: { ...upDefaults, ...behavior.scaleUp }, scaleDown: { ...downDefaults, ...behavior.scaleDown } }
    const memory = { recommendations: timed(recommendations), added: timed(scaledUp), removed: timed(scaledDown) }
    const { replicas, conditions } = limitReplicas({ ...row, ...memory, level: 37, behavior: rules, downWindowMs: 300_000 }, nowMs)
    return { replicas, conditions: conditions.map(({ type, status, reason, message }) => `${type}=${status} ${reason}: ${message}`) }
  })
  expect(found).toEqual(byId(rows, ({ replicas, conditions }) => ({ replicas, conditions })))
})

test('WL-HPA-27: below 1.26 what was removed does not raise the bound of a policy for scaling up', () => {
  const scaleUp = { ...upDefaults, policies: [{ type: 'Pods', value: 4, periodSeconds: 60 }] }
  const wanted = { wanted: 20, currentReplicas: 10, minReplicas: 1, maxReplicas: 30, downWindowMs: 300_000 }
  const memory = { recommendations: [], added: [], removed: [{ value: 3, atMs: nowMs - 10_000 }] }
  const replicasAt = (level: number) => limitReplicas({ ...wanted, ...memory, level, behavior: { scaleUp } }, nowMs).replicas
  expect([25, 26].map(replicasAt)).toEqual([14, 17])
})

test('WL-HPA-14: below 1.26 a failure for an average value speaks of utilization, and below 1.27 a container has the metric of its resource', () => {
  const pods = [podOf({ state: '', requestMilli: 100 }, 0)]
  const use = { pods, currentReplicas: 1, tolerance, initializationMs: 0, readinessDelayMs: 0, namespace: 'a', statusReplicas: 1 }
  const messageAt = (level: number) => {
    const resource = { name: 'cpu', target: { type: 'AverageValue', averageValue: '1' } }
    const all = { ...use, hasPodRequests: false, level }
    const result = evaluateMetric({ type: 'Resource', resource }, { kind: 'failed', message: 'no API' }, all, nowMs)
    return result.kind === 'failed' ? result.message : result.name
  }
  const unable = 'unable to get metrics for resource cpu: no API'
  expect([25, 26].map(messageAt)).toEqual([`failed to get cpu utilization: ${unable}`, `failed to get cpu usage: ${unable}`])
  const nameAt = (level: number) => {
    const containerResource = { name: 'cpu', container: 'c', target: { type: 'Utilization', averageUtilization: 50 } }
    const containers = [{ name: 'c', usage: { cpu: '50m' } }]
    const items = [{ metadata: { name: 'p0' }, timestamp: timeOf(0), window: '60s', containers }]
    const answer = { kind: 'read', value: { kind: 'pods', items } } as const
    const result = evaluateMetric({ type: 'ContainerResource', containerResource }, answer, { ...use, hasPodRequests: false, level }, nowMs)
    return result.kind === 'failed' ? result.message : result.name
  }
  expect([26, 27].map(nameAt)).toEqual([
    'cpu resource utilization (percentage of request)',
    'cpu container resource utilization (percentage of request)',
  ])
})

test('WL-HPA-14: below 1.29 an evaluation without a result leaves the metrics in the status, and below 1.37 the words about an object are in another order', () => {
  const object = { describedObject: { kind: 'Service', name: 's' }, metric: { name: 'm' }, target: { type: 'Value', value: '1' } }
  const old = [{ type: 'Object', object: { metric: { name: 'm' }, current: { value: '7' }, describedObject: object.describedObject } }]
  const resultAt = (level: number) => {
    const use = { pods: [], currentReplicas: 2, tolerance, initializationMs: 0, readinessDelayMs: 0, level }
    const all = { ...use, namespace: 'a', statusReplicas: 2, hasPodRequests: false }
    const result = evaluateMetric({ type: 'Object', object }, { kind: 'failed', message: 'no API' }, all, nowMs)
    const autoscaler = {
      apiVersion: 'autoscaling/v2',
      kind: 'HorizontalPodAutoscaler',
      metadata: {},
      spec: { maxReplicas: 3, scaleTargetRef: { kind: 'Deployment', name: 'd' } },
      status: { desiredReplicas: 2, currentMetrics: old },
    }
    const rules = { level, scalesToZero: false, hasGeneration: false, downWindowMs: 0 }
    const measured = { kind: 'metrics', results: [result] } as const
    const look = { kind: 'measure' } as const
    const { events, after } = decideAutoscaler({ autoscaler, currentReplicas: 2, look, measured, memory: noMemory, rules }, nowMs)
    return [events[0]?.message, (after().status as { currentMetrics: unknown }).currentMetrics]
  }
  const failed = [{ type: '' }]
  expect([28, 29, 37].map(resultAt)).toEqual([
    ['unable to get metric m: Service on a s/no API', old],
    ['unable to get metric m: Service on a s/no API', failed],
    ['unable to get metric m on Service a/s: no API', failed],
  ])
})
