import { scaleCells } from './cells/workloads.ts'
import type { KindTable } from './kind-table.ts'

/** The table of the scale subresource. */
export const scaleTable: KindTable = {
  cells: scaleCells,
  columns: [
    { name: 'Name', format: '' },
    { name: 'Desired', type: 'integer' },
    { name: 'Available', type: 'integer', description: 'Number of existing replicas.' },
    'Age',
  ],
}
