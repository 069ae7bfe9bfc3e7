/** schema */

export type { BuiltIn, MutableBuiltIn, TypeName } from './built-in.ts'
export * from './decode.ts'
export { bytes } from './define.ts'
export { type GoValue, goValue } from './go-value.ts'
export * from './node.ts'
export * from './of-type.ts'
export * from './required.ts'
export * from './resolve.ts'
