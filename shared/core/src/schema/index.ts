/** schema */

export * from './decode.ts'
export { bytes } from './define.ts'
export { type GoValue, goValue } from './go-value.ts'
export * from './node.ts'
export * from './required.ts'
export * from './resolve.ts'
