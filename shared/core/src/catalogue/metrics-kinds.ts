import { defineResource, type KindDefinition } from '../kind/define-resource.ts'
import { nodeMetricsCells, podMetricsCells } from '../table/cells/usage.ts'
import type { KindTable } from '../table/kind-table.ts'

const columns: KindTable['columns'] = [
  'Name',
  { name: 'cpu', description: 'The CPU usage.' },
  { name: 'memory', description: 'The memory usage.' },
  { name: 'Window', format: 'duration', description: 'The length of the measurement window.' },
]

const common = { verbs: ['get', 'list'], backing: 'computed' } as const

/** The kinds of metrics.k8s.io, in the order of discovery. They are served if nodes are simulated, and computed from the usage of Pods. */
export const metricsKinds: readonly KindDefinition[] = [
  defineResource({
    ...common,
    versions: [{ type: 'metrics/v1beta1.NodeMetrics' }],
    plural: 'nodes',
    scope: 'Cluster',
    table: { cells: nodeMetricsCells, columns },
  }),
  defineResource({
    ...common,
    versions: [{ type: 'metrics/v1beta1.PodMetrics' }],
    plural: 'pods',
    scope: 'Namespaced',
    table: { cells: podMetricsCells, columns },
  }),
]
