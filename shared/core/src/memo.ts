export { boundedMemo, getOrMake, lazily, memo } from '@orch/cel/memo'
export { RecentMap } from './recent-map.ts'
