import {
  averageReplicas,
  limitReplicas,
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
    const { replicas, conditions } = limitReplicas({ ...row, ...memory, behavior: rules, downWindowMs: 300_000 }, nowMs)
    return { replicas, conditions: conditions.map(({ type, status, reason, message }) => `${type}=${status} ${reason}: ${message}`) }
  })
  expect(found).toEqual(byId(rows, ({ replicas, conditions }) => ({ replicas, conditions })))
})
