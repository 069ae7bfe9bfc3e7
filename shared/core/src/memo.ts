/** memo */

export { memo } from '@orch/cel/memo'
