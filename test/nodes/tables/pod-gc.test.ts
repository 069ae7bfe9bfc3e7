import { type CollectionOptions, collectPods, type Quarantine, stepQuarantine } from '@orch/core/node-lifecycle'
import type { Node, Pod } from '@orch/core/workloads'
import { expect, test } from 'vitest'
import { type Row, rowsOf } from './rows.ts'

interface PodWords {
  readonly name: string
  readonly phase: string
  readonly nodeName?: string
}

interface CollectedRow extends Row {
  readonly name: string
  readonly pods: readonly PodWords[]
  readonly deletedPodNames: object
  readonly threshold?: number
}

interface OrphanRow extends Row {
  readonly name: string
  readonly delay: string
  readonly pods: readonly Pod[]
  readonly deletedPodNames: object
  readonly itemsInQueue: number
  readonly initialClientNodes?: readonly Node[]
  readonly initialInformerNodes?: readonly Node[]
  readonly addedClientNodes?: readonly Node[]
  readonly addedInformerNodes?: readonly Node[]
  readonly deletedClientNodes?: readonly Node[]
  readonly deletedInformerNodes?: readonly Node[]
}

const options: CollectionOptions = { terminatedMax: 0, level: 37, outOfServiceTaint: undefined }

/** The Pods; each is a day younger than the previous Pod. */
const toPods = (words: readonly PodWords[], isDeleted: (name: string) => boolean): Pod[] =>
  words.map(({ name, phase, nodeName = '' }, index) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'default',
      creationTimestamp: `2026-01-0${index + 1}T00:00:00Z`,
      ...(isDeleted(name) && { deletionTimestamp: '2026-02-01T00:00:00Z' }),
    },
    spec: { containers: [], nodeName },
    status: { phase },
  }))

const namesOf = (pods: readonly Pod[]) => pods.map(({ metadata }) => metadata.name).toSorted()
const deletedIn = ({ deletedPodNames }: CollectedRow | OrphanRow) => Object.keys(deletedPodNames).toSorted()

test.each(rowsOf<CollectedRow>('pod-gc', 'TestGCTerminated'))('NODE-SIM-55: finished Pods are deleted as recorded: $name', (row) => {
  const pods = toPods(row.pods, () => false)
  const { terminated } = collectPods(pods, () => undefined, { ...options, terminatedMax: row.threshold ?? 0 })
  expect(namesOf(terminated)).toEqual(deletedIn(row))
})

test.each(rowsOf<CollectedRow>('pod-gc', 'TestGCUnscheduledTerminating'))(
  'NODE-SIM-55, WL-NODE-08: Pods without a node are deleted as recorded: $name',
  (row) => {
    const isFirst = row.name.startsWith('Unscheduled')
    const pods = toPods(row.pods, (name) => isFirst || name !== 'a')
    expect(namesOf(collectPods(pods, () => undefined, options).unscheduled)).toEqual(deletedIn(row))
  },
)

const noNodes: readonly Node[] = []

test.each(rowsOf<OrphanRow>('pod-gc', 'TestGCOrphaned'))(
  'NODE-SIM-55, WL-NODE-07: Pods of missing nodes are deleted as recorded: $name',
  (row) => {
    const namesIn = (nodes: readonly Node[] = noNodes) => nodes.map(({ metadata }) => metadata.name ?? '')
    const nodeOf = (pod: Pod) => pod.spec.nodeName ?? ''
    const delayMs = row.delay === '20s' ? 20_000 : 80_000
    // The first pass sees the nodes before the changes, and the second pass the nodes after them.
    const cached = new Set(namesIn(row.initialInformerNodes))
    const missing = () => row.pods.map(nodeOf).filter((name) => !cached.has(name))
    const first = stepQuarantine(new Map(), missing(), 0)
    const settled: Quarantine = new Map([...first.quarantine].filter(([, untilMs]) => untilMs <= delayMs))
    expect([first.ended, settled.size]).toEqual([[], row.itemsInQueue])
    for (const name of namesIn(row.addedInformerNodes)) cached.add(name)
    for (const name of namesIn(row.deletedInformerNodes)) cached.delete(name)
    const live = new Set([...namesIn(row.initialClientNodes), ...namesIn(row.addedClientNodes)])
    for (const name of namesIn(row.deletedClientNodes)) live.delete(name)
    const { ended } = stepQuarantine(first.quarantine, missing(), delayMs)
    const gone = new Set(ended.filter((name) => !cached.has(name) && !live.has(name)))
    expect(namesOf(row.pods.filter((pod) => gone.has(nodeOf(pod))))).toEqual(deletedIn(row))
  },
)
