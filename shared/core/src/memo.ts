/** memo */

export { boundedMemo, memo } from '@orch/cel/memo'
