/** table */

export { printAge, unknownAge } from './age.ts'
export type { Cell, ReadCells } from './cell.ts'
export * from './include-object.ts'
export * from './print.ts'
export * from './printer.ts'
export { scaleTable } from './scale-table.ts'
