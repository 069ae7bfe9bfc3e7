/** schema */

export { bytes, list, map, string } from '../description/define.ts'
export * from '../description/node.ts'
export type { BuiltIn, MutableBuiltIn, TypeName } from './built-in.ts'
export * from './decode.ts'
export * from './field-errors.ts'
export { type FieldProblems, fieldProblems } from './field-problems.ts'
export { type GoValue, goValue } from './go-value.ts'
export { type Inspection, inspectAs } from './inspect.ts'
export * from './of-type.ts'
export * from './resolve.ts'
export { printAsGoMap } from './restore-text.ts'
