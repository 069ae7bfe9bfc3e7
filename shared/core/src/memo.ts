export { boundedMemo, getOrMake, lazily, memo } from '@orch/cel/memo'
