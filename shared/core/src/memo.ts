export { boundedMemo, lazily, memo } from '@orch/cel/memo'
