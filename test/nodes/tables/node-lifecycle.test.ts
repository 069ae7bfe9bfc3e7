import { namesOf } from '@orch/core/names'
import {
  changedTaints,
  evictionRate,
  type HealthLook,
  hasTaint,
  isExcluded,
  type Lease,
  labelChange,
  lookAtHealth,
  type NodeHealth,
  noScheduleChange,
  renewedHealth,
  stepZones,
  type Taint,
  type ZoneState,
  zoneKeyOf,
  zoneState,
} from '@orch/core/node-lifecycle'
import type { Node } from '@orch/core/workloads'
import { expect, test } from 'vitest'
import { type Row, rowsOf } from './rows.ts'

const names = namesOf('kubernetes')
const file = 'node-lifecycle'
const startMs = Date.parse('2015-01-01T12:00:00Z')
const periods = { graceMs: 40_000, startupGraceMs: 60_000 }
const zones = { evictionRate: 0.1, secondaryEvictionRate: 0.01, largeZoneSize: 50, unhealthyShare: 0.55 }

/** The tables' nodes lack empty members. */
const toNode = (node: Node): Node => ({ ...node, metadata: node.metadata ?? {}, spec: node.spec ?? {}, status: node.status ?? {} })

interface HealthRow extends Row {
  readonly description?: string
  readonly fakeNodeHandler: { readonly existing: readonly Node[] }
  readonly newNodeStatus: Node['status']
  readonly timeToPass: '0s' | '1m0s' | '9m20s' | '10m0s' | '1h0m0s'
  readonly lease?: Lease
  readonly newLease?: Lease
  readonly expectedNodes?: readonly Node[]
  readonly expectedPodStatusUpdate: boolean
  readonly expectedEvictPods: boolean
}

const passedMs = { '0s': 0, '1m0s': 60_000, '9m20s': 560_000, '10m0s': 600_000, '1h0m0s': 3_600_000 }

/** The number of checks of a row's first node: one, or two if time passes. */
function looksOf({ fakeNodeHandler, newNodeStatus, timeToPass, lease, newLease }: HealthRow): {
  readonly node: Node
  readonly look: HealthLook
} {
  const [before] = fakeNodeHandler.existing
  if (before === undefined) throw new Error('a row without a node')
  const first = toNode(before)
  const look = lookAtHealth(undefined, first, lease, { nowMs: startMs, ...periods })
  const laterMs = passedMs[timeToPass]
  if (laterMs === 0) return { node: first, look }
  const node = { ...first, status: newNodeStatus }
  return { node, look: lookAtHealth(look.health, node, newLease ?? lease, { nowMs: startMs + laterMs, ...periods }) }
}

const isMarked = ({ observed, current }: HealthLook) => observed === 'True' && current !== undefined && current !== 'True'

test.each(
  ['TestMonitorNodeHealthUpdateStatus', 'TestMonitorNodeHealthUpdateNodeAndPodStatusWithLease'].flatMap((func) =>
    rowsOf<HealthRow>(file, func),
  ),
)('NODE-LC-01, NODE-LC-02, NODE-LC-03: a node has the recorded conditions: $description, after $timeToPass', (row) => {
  const { node, look } = looksOf(row)
  const [expected = node] = row.expectedNodes ?? []
  const isSilent = look.conditions !== undefined
  const time = row.timeToPass === '0s' ? '2015-01-01T12:00:00Z' : '2015-01-01T13:00:00Z'
  // The table records a change at the time of its last check.
  const changed = look.conditions?.map((one) => (one.status === 'Unknown' ? { ...one, lastTransitionTime: time } : one))
  expect([changed ?? node.status.conditions ?? [], isMarked(look)]).toEqual([expected.status.conditions ?? [], row.expectedPodStatusUpdate])
  expect(look.expiresMs === undefined).toBe(isSilent)
})

test.each(rowsOf<HealthRow>(file, 'TestMonitorNodeHealthMarkPodsNotReady'))('NODE-LC-06: Pods are marked after $timeToPass', (row) => {
  expect(isMarked(looksOf(row).look)).toBe(row.expectedPodStatusUpdate)
})

/** Rows about evictions without taints, which 1.27 removed (NODE-LC-14). */
const withoutTaints = ['Pod is ds-managed', 'NotReady for a short', 'Unknown for a short']

test.each(
  rowsOf<HealthRow>(file, 'TestMonitorNodeHealthEvictPods').filter(
    ({ description = '' }) => !withoutTaints.some((text) => description.includes(text)),
  ),
)('NODE-LC-04: a node gets a taint, $description', (row) => {
  const { current } = looksOf(row).look
  expect(current === 'False' || current === 'Unknown').toBe(row.expectedEvictPods)
})

interface DisruptionRow extends Row {
  readonly description: string
  readonly nodeList: readonly Node[]
  readonly updatedNodeStatuses: readonly Node['status'][]
  readonly expectedInitialStates: Readonly<Record<string, ZoneState>>
  readonly expectedFollowingStates: Readonly<Record<string, ZoneState>>
}

/** Since 1.21 the name of a master does not exclude a node. */
const disruptions = rowsOf<DisruptionRow>(file, 'TestMonitorNodeHealthEvictPodsWithDisruption').filter(
  ({ description }) => !description.includes('-master'),
)

test.each(disruptions)(
  'NODE-LC-10: evictions follow the recorded states of zones: $description',
  ({ nodeList, updatedNodeStatuses, expectedInitialStates, expectedFollowingStates }) => {
    const zonesOf = (statuses: readonly Node['status'][]) => {
      const zones = Map.groupBy(nodeList.keys(), (index) => zoneKeyOf(names, nodeList[index]?.metadata ?? {}))
      const readyOf = (index: number) => statuses[index]?.conditions?.find(({ type }) => type === 'Ready')?.status
      return new Map([...zones].map(([zone, indexes]) => [zone, indexes.map(readyOf)]))
    }
    const first = stepZones(new Map(), zonesOf(nodeList.map(({ status }) => status)), zones)
    const second = stepZones(first.states, zonesOf(updatedNodeStatuses), zones)
    expect([first, second].map(({ states }) => Object.fromEntries(states))).toEqual([expectedInitialStates, expectedFollowingStates])
  },
)

interface ZoneRow extends Row {
  readonly ready: number
  readonly notReady: number
  readonly unhealthyZoneThreshold: number
  readonly state: ZoneState
}

interface RateRow extends Row {
  readonly zoneState: ZoneState
  readonly nodesInZone: number
  readonly allZonesFullDisruption: boolean
  readonly nodesPerSecond: number
}

test.each(rowsOf<ZoneRow>('zones', 'zoneState'))('NODE-LC-10: a zone with $ready nodes ready and $notReady not is $state', (row) => {
  const statuses = [...Array.from({ length: row.ready }, () => 'True'), ...Array.from({ length: row.notReady }, () => 'False')]
  expect(zoneState(statuses, row.unhealthyZoneThreshold)).toBe(row.state)
})

test.each(rowsOf<RateRow>('zones', 'evictionRate'))(
  'NODE-LC-11: evictions have the recorded rate: $nodesInZone nodes of a zone with $zoneState',
  (row) => {
    const before = new Map([['a', 'Normal' as const]])
    const stopped = stepZones(before, new Map([['a', ['False']]]), zones)
    const rate = row.allZonesFullDisruption ? stopped.rates.get('a') : evictionRate(row.zoneState, row.nodesInZone, zones)
    expect(rate).toBe(row.nodesPerSecond)
  },
)

interface NodeRow extends Row {
  readonly name: string
  readonly node: Node
  readonly expectedTaints?: readonly Taint[]
  readonly expectedLabels?: object
}

test.each(rowsOf<NodeRow>(file, 'TestTaintsNodeByCondition'))(
  'NODE-LC-05: a node gets the recorded taints: $name',
  ({ node, expectedTaints }) => {
    expect(noScheduleChange(names, toNode(node)).added).toEqual(expectedTaints)
  },
)

test.each(rowsOf<NodeRow>(file, 'TestReconcileNodeLabels'))(
  'NODE-LC-13: a node gets the recorded labels: $name',
  ({ node: { metadata }, expectedLabels }) => {
    expect({ ...metadata.labels, ...labelChange(names, metadata) }).toEqual(expectedLabels ?? {})
  },
)

test.each(rowsOf<NodeRow>(file, 'TestTryUpdateNodeHealth'))('NODE-LC-01: a check uses the cached status, $name', (row) => {
  const node = toNode(row.node)
  const before: NodeHealth = {
    probeMs: Date.parse(node.metadata.creationTimestamp ?? ''),
    ready: node.status.conditions?.find(({ type }) => type === 'Ready'),
    renewTime: undefined,
  }
  const { conditions, current, health } = lookAtHealth(before, node, undefined, { nowMs: Date.parse('2017-01-01T12:00:00Z'), ...periods })
  const written = conditions?.find(({ type }) => type === 'Ready') ?? health.ready
  expect(current).toBe(written?.status)
})

test('NODE-LC-01: a later renewal of a lease counts from the given time on, and an equal or earlier one does not', () => {
  const leaseOf = (renewTime: string): Lease => ({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: {}, spec: { renewTime } })
  const health: NodeHealth = { probeMs: 1, ready: undefined, renewTime: '2017-01-01T12:00:00.000000Z' }
  expect(renewedHealth(health, leaseOf('2017-01-01T12:00:10.000000Z'), 2)).toEqual({
    ...health,
    probeMs: 2,
    renewTime: '2017-01-01T12:00:10.000000Z',
  })
  for (const time of ['2017-01-01T12:00:00.000000Z', '2017-01-01T11:59:59.000000Z'])
    expect(renewedHealth(health, leaseOf(time), 2)).toBe(health)
})

interface ExcludedRow extends Row {
  readonly enableExclusion: boolean
  readonly enableLegacy: boolean
  readonly input: Node
  readonly want: boolean
}

/** Since 1.21 the label counts and the name of a master does not. */
const excluded = rowsOf<ExcludedRow>(file, 'Test_isNodeExcludedFromDisruptionChecks').filter(({ enableExclusion, enableLegacy, input }) =>
  toNode(input).metadata.labels === undefined ? !enableLegacy : enableExclusion,
)

test.each(excluded)('NODE-LC-10: a node without a zone does not count: $want', ({ input, want }) => {
  expect(isExcluded(names, toNode(input).metadata)).toBe(want)
})

interface TaintRow extends Row {
  readonly name: string
  readonly taints?: readonly Taint[]
  readonly node?: Node
  readonly taintToDelete?: Taint
  readonly taintToRemove?: Taint
  readonly taintToFind?: Taint
  readonly expectedTaints?: readonly Taint[]
  readonly expectedResult: boolean
}

test.each(['TestDeleteTaint', 'TestRemoveTaint'].flatMap((func) => rowsOf<TaintRow>('taints', func)))(
  'NODE-LC-04: a node loses a taint as recorded: $name',
  (row) => {
    const taints = row.taints ?? row.node?.spec?.taints ?? []
    const removed = [row.taintToDelete ?? row.taintToRemove].filter((taint) => taint !== undefined)
    const changed = changedTaints(taints, { added: [], removed }, '')
    expect([changed !== undefined, changed ?? taints]).toEqual([row.expectedResult, row.expectedTaints])
  },
)

test.each(rowsOf<TaintRow>('taints', 'TestTaintExists'))(
  'NODE-LC-04: a taint is found as recorded: $name',
  ({ taintToFind, expectedResult }) => {
    // The taints of the upstream test.
    const taints: Taint[] = ['foo_1', 'foo_2', 'foo_3'].map((key) => ({ key, effect: key === 'foo_1' ? 'NoExecute' : 'NoSchedule' }))
    expect(taintToFind && hasTaint(taints, taintToFind)).toBe(expectedResult)
  },
)
