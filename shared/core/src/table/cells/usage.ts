import { addQuantities, parseQuantity, printQuantity, zeroQuantity } from '../../meta/quantity.ts'
import { type Data, dataOf, listOf, nameOf, type ReadCells, textOf } from '../cell.ts'

export const nodeMetricsCells: ReadCells = (object) => cellsOf(object, [dataOf(object, 'usage')])

/** The cells of a PodMetrics, with the sums of its containers. */
export const podMetricsCells: ReadCells = (object) =>
  cellsOf(
    object,
    listOf(object, 'containers').map((container) => dataOf(container, 'usage')),
  )

function cellsOf(object: Data, usages: readonly Data[]) {
  const sumOf = (resource: string) => {
    const amounts = usages.flatMap((usage) => parseQuantity(textOf(usage, resource)) ?? [])
    return printQuantity(amounts.length === 0 ? zeroQuantity : amounts.reduce(addQuantities))
  }
  return [nameOf(object), sumOf('cpu'), sumOf('memory'), textOf(object, 'window')]
}
