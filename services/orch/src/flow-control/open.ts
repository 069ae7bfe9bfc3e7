import { type BootstrapObject, flowControlGroup, flowControlObjects } from '@orch/controllers'
import type { Catalogue } from '@orch/core/catalogue'
import type { FlowControlOptions } from './options.ts'

/** What flow control has from the start; nothing where it is off or its group is not served. */
export function flowControlStart({ isFair }: FlowControlOptions, catalogue: Catalogue): BootstrapObject[] {
  return isFair && servesFlowControl(catalogue) ? flowControlObjects(catalogue) : []
}

/** Whether there are FlowSchemas at all. */
export function servesFlowControl({ names, level, find }: Catalogue): boolean {
  const { group, version } = flowControlGroup(names, level)
  return find(group, version, 'flowschemas') !== undefined
}
