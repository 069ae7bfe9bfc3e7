/** schema */

export type { BuiltIn, MutableBuiltIn, TypeName } from './built-in.ts'
export * from './decode.ts'
export { bytes } from './define.ts'
export * from './field-errors.ts'
export { type GoValue, goValue } from './go-value.ts'
export { type Inspection, inspectAs } from './inspect.ts'
export * from './node.ts'
export * from './of-type.ts'
export * from './resolve.ts'
export { printAsGoMap } from './restore-text.ts'
