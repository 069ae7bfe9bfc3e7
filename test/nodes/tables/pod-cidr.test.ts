import { NodeRanges } from '@orch/core/node-lifecycle'
import { expect, test } from 'vitest'
import { type Row, rowsOf } from './rows.ts'

interface RangeRow extends Row {
  readonly description: string
  readonly clusterCIDRStr: string
}

interface IndexRow extends RangeRow {
  readonly index: number
  readonly subnetMaskSize: number
  readonly cIDRBlock: string
}

interface PartRow extends RangeRow {
  readonly subNetCIDRStr: string
  readonly subNetMaskSize: number
  readonly expectErr: boolean
  readonly expectedBit?: number
  readonly expectedUsedBegin?: number
  readonly expectedUsedEnd?: number
}

interface AllocatedRow extends RangeRow {
  readonly subNetMaskSize: number
  readonly expectErr?: boolean
  readonly expectedCIDR: string
  readonly expectedCIDR2?: string
}

const rangesOf = ({ clusterCIDRStr, subNetMaskSize }: PartRow | AllocatedRow) => new NodeRanges(clusterCIDRStr, subNetMaskSize)

test.each(rowsOf<IndexRow>('pod-cidr', 'TestIndexToCIDRBlock'))(
  'WL-NODE-12: ranges are indexed, or refused, as recorded: $description',
  ({ index, clusterCIDRStr, subnetMaskSize, cIDRBlock }) => {
    const ranges = new NodeRanges(clusterCIDRStr, subnetMaskSize)
    for (let given = 0; given < index; given++) ranges.allocate()
    expect(ranges.allocate()).toBe(cIDRBlock)
  },
)

test.each(rowsOf<PartRow>('pod-cidr', 'TestGetBitforCIDR'))('WL-NODE-12: a range has the recorded position: $description', (row) => {
  expect(rangesOf(row).partsOf(row.subNetCIDRStr)?.begin).toBe(row.expectErr ? undefined : row.expectedBit)
})

test.each(rowsOf<PartRow>('pod-cidr', 'TestOccupy'))('WL-NODE-12: a range covers the recorded positions: $description', (row) => {
  expect(rangesOf(row).partsOf(row.subNetCIDRStr)).toEqual({ begin: row.expectedUsedBegin, end: row.expectedUsedEnd })
})

test.each(rowsOf<AllocatedRow>('pod-cidr', 'TestCIDRSetFullyAllocated'))(
  'WL-NODE-12: a released range is allocated again: $description',
  (row) => {
    const ranges = rangesOf(row)
    expect([ranges.allocate(), ranges.allocate()]).toEqual([row.expectedCIDR, undefined])
    ranges.release(row.expectedCIDR)
    expect([ranges.allocate(), ranges.allocate()]).toEqual([row.expectedCIDR, undefined])
  },
)

test.each(rowsOf<AllocatedRow>('pod-cidr', 'TestCIDRSetv6'))(
  'WL-NODE-12: ranges of both families are allocated as recorded: $description',
  (row) => {
    if (row.expectErr === true) return expect(() => rangesOf(row)).toThrow('has 32 to 48 bits, not 49')
    const ranges = rangesOf(row)
    expect([ranges.allocate(), ranges.allocate()]).toEqual([row.expectedCIDR, row.expectedCIDR2])
  },
)
