import { type EndpointSlice, fnv128a, packSlices, repack, type SliceDraft, type Subset, truncated } from '@orch/core/workloads'
import { expect, test } from 'vitest'
import { byId, type Row, rowsOf } from './rows.ts'

interface PackingRow extends Row {
  readonly maxEndpointsPerSlice: number
  readonly steps: readonly {
    /** Ranges of Pod numbers, without the upper bound. */
    readonly podRanges: readonly (readonly [number, number])[]
    readonly sizes: readonly number[]
    readonly writes: Readonly<Record<string, number>>
  }[]
}

const ports = [{ name: '', port: 80, protocol: 'TCP' }]

function endpointsOf(ranges: PackingRow['steps'][number]['podRanges']) {
  return ranges.flatMap(([from, to]) =>
    Array.from({ length: to - from }, (_, index) => ({
      addresses: [`10.0.${Math.floor((from + index) / 200)}.${(from + index) % 200}`],
      conditions: { ready: true, serving: true, terminating: false },
      targetRef: { kind: 'Pod', namespace: 'n', name: `p${from + index}` },
    })),
  )
}

function toSlice({ existing, ...rest }: SliceDraft, name: string): EndpointSlice {
  const metadata = existing?.metadata ?? { name }
  return { apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', metadata, addressType: 'IPv4', ...rest }
}

/** The sizes of the slices after each step, and the step's writes. */
function pack({ steps, maxEndpointsPerSlice }: PackingRow): unknown[] {
  let slices: readonly EndpointSlice[] = []
  return steps.map(({ podRanges }, step) => {
    const endpoints = endpointsOf(podRanges)
    const groups = endpoints.length === 0 ? [] : [{ ports, endpoints }]
    const plan = packSlices({ existing: slices, groups, endpointsMax: maxEndpointsPerSlice, hasOldLabels: () => false })
    const gone = new Set([...plan.deleted, ...plan.updated.map(({ existing }) => existing)])
    const drafts = [...plan.created, ...plan.updated]
    slices = [...slices.filter((slice) => !gone.has(slice)), ...drafts.map((draft, index) => toSlice(draft, `s${step}-${index}`))]
    const counts = { create: plan.created.length, update: plan.updated.length, delete: plan.deleted.length }
    const writes = Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0))
    return { sizes: slices.map((slice) => slice.endpoints?.length ?? 0).sort((left, right) => right - left), writes }
  })
}

/** Removals from full slices: upstream takes endpoints for slices in the order of a Go map, so the sizes after a removal are random. */
const byChance = new Set(['slices-004', 'slices-005'])

test('WL-EP-04, WL-EP-12, WL-EP-13, WL-EP-14: endpoints are packed into slices like by kube-controller-manager', () => {
  const rows = rowsOf<PackingRow>('slices', 'packing').filter(({ id }) => !byChance.has(id))
  const sorted = (sizes: readonly number[]) => sizes.toSorted((left, right) => right - left)
  const expected = byId(rows, ({ steps }) => steps.map(({ sizes, writes }) => ({ sizes: sorted(sizes), writes })))
  expect(byId(rows, pack)).toEqual(expected)
})

test('WL-EP-14: the first endpoints fill an empty slice that has their ports', () => {
  const empty = toSlice({ ports, endpoints: [] }, 'empty')
  const groups = [{ ports, endpoints: endpointsOf([[0, 2]]) }]
  const { created, updated, deleted } = packSlices({ existing: [empty], groups, endpointsMax: 100, hasOldLabels: () => false })
  expect([created.length, updated[0]?.existing, deleted.length]).toEqual([0, empty, 0])
})

interface SubsetsRow extends Row {
  readonly subsets: readonly Subset[]
  readonly result: readonly Subset[]
}

test('WL-EP-26: subsets of Endpoints are joined and ordered like by kube-controller-manager', () => {
  const rows = rowsOf<SubsetsRow>('slices', 'subsets')
  expect(byId(rows, ({ subsets }) => repack(subsets, fnv128a))).toEqual(byId(rows, ({ result }) => result))
})

interface CapacityRow extends Row {
  readonly subsets: readonly (readonly [number, number])[]
  readonly result: readonly (readonly [number, number])[]
  readonly truncated: boolean
}

test('WL-EP-31: more than 1,000 addresses are truncated like by kube-controller-manager', () => {
  const rows = rowsOf<CapacityRow>('slices', 'overCapacity')
  const addresses = (count: number) => Array.from({ length: count }, (_, index) => ({ ip: `10.0.0.${index}` }))
  const found = byId(rows, ({ subsets }) => {
    const cut = truncated(subsets.map(([ready, notReady]) => ({ addresses: addresses(ready), notReadyAddresses: addresses(notReady) })))
    return cut?.map((subset) => [subset.addresses?.length ?? 0, subset.notReadyAddresses?.length ?? 0])
  })
  expect(found).toEqual(byId(rows, ({ result }) => result))
})
