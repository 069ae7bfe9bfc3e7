import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Pod } from '../workloads/pods.ts'
import { type ConditionInput, containersReady, initialized, mergeConditions, type PodCondition, ready, type Verdict } from './conditions.ts'
import { type ContainerStatus, podPhase } from './phase.ts'

/** A row of a table of the kubelet's tests; the first line of the file has its source. */
interface Row {
  readonly func: string
  readonly name?: string
}

const [, ...lines] = readFileSync(join(import.meta.dirname, 'cases', 'kubelet-phase.jsonl'), 'utf8')
  .trimEnd()
  .split('\n')
const rows: readonly Row[] = lines.map((line) => JSON.parse(line))

function rowsOf<T>(...functions: readonly string[]): [name: string, row: Row & T][] {
  const chosen = rows.filter(({ func }) => functions.includes(func))
  return chosen.map((row, index) => [`${row.func} ${row.name ?? index}`, row as Row & T])
}

interface PhaseRow {
  readonly pod: Pod
  readonly status: string
}

const phases = ['TestPodPhaseWithRestartAlways', 'TestPodPhaseWithRestartNever', 'TestPodPhaseWithRestartOnFailure']

test.each(rowsOf<PhaseRow>(...phases))(
  'NODE-SIM-24: a Pod has the phase of the table %s',
  (_, { pod: { spec, status }, status: expected }) => {
    const statuses = [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])]
    expect(podPhase({ spec, statuses })).toBe(expected)
  },
)

interface ConditionRow {
  readonly spec?: Pod['spec']
  readonly containerStatuses?: readonly ContainerStatus[]
  readonly conditions?: readonly PodCondition[]
  readonly podPhase: string
  readonly expectReady?: PodCondition
  readonly expected?: PodCondition
}

const verdicts: Readonly<Record<string, (input: ConditionInput, conditions: readonly PodCondition[]) => Verdict>> = {
  TestGeneratePodReadyCondition: ready,
  TestGenerateContainersReadyCondition: containersReady,
  // This table compares no messages.
  TestGeneratePodInitializedCondition: (input) => ({ ...initialized(input), message: undefined }),
}

test.each(rowsOf<ConditionRow>(...Object.keys(verdicts)))('NODE-SIM-25, NODE-SIM-26: a Pod has the condition of the table %s', (_, row) => {
  const input = { spec: row.spec ?? { containers: [] }, statuses: row.containerStatuses, phase: row.podPhase }
  const { status, reason, message } = { ...row.expected, ...row.expectReady }
  const { reason: haveReason, message: haveMessage, ...rest } = verdicts[row.func]?.(input, row.conditions ?? []) ?? {}
  expect({ ...rest, reason: haveReason, message: haveMessage }).toEqual({ status, reason, message })
})

type MergeRow = Readonly<Record<'oldStatus' | 'newStatus' | 'expected', { readonly conditions: readonly PodCondition[] }>>

test.each(rowsOf<MergeRow>('TestMergePodStatus'))('NODE-SIM-27: conditions of other clients stay, as in the table %s', (_, row) => {
  const merged = mergeConditions(row.oldStatus.conditions, row.newStatus.conditions)
  // Conditions are a map by type: the table has them in another order.
  expect(new Map(merged.map((one) => [one.type, one]))).toEqual(new Map(row.expected.conditions.map((one) => [one.type, one])))
})
