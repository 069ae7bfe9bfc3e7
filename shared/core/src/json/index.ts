/** json */

export { at } from '@orch/cel/at'
export { type ChangedPathsOptions, changedPaths } from './changed-paths.ts'
export * from './equal.ts'
export { freezeDeeply } from './freeze.ts'
export { cannotUnmarshal } from './go-errors.ts'
export * from './member.ts'
export { plainCopy } from './plain-copy.ts'
export * from './print.ts'
export * from './scan.ts'
export { shareWith } from './share.ts'
export { itemSpans, memberSpan, memberStart, type Span } from './span.ts'
export { decodeText, replaceHalfPairs, surrogateEscapeIn } from './text.ts'
