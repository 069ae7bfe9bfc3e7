import { desiredHealthy } from '@orch/core/workloads'
import { expect, test } from 'vitest'
import { byId, type Row, rowsOf } from './rows.ts'

interface BudgetRow extends Row {
  readonly value: number | string
  readonly expectedPods: number
  readonly asMinAvailable: number
  readonly asMaxUnavailable: number
}

test('WL-PDB-02, WL-PDB-03: desired numbers of healthy Pods equal those of kube-controller-manager', () => {
  const rows = rowsOf<BudgetRow>('pdb-numbers', 'desiredHealthy')
  const found = byId(rows, ({ value, expectedPods }) => [
    desiredHealthy({ minAvailable: value }, expectedPods),
    desiredHealthy({ maxUnavailable: value }, expectedPods),
  ])
  expect(found).toEqual(byId(rows, ({ asMinAvailable, asMaxUnavailable }) => [asMinAvailable, asMaxUnavailable]))
})
