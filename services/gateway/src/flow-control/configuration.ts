import { type BuiltIn, requireType } from '@orch/core/schema'
import { type LimitShare, shareOf } from '../server/limit-share.ts'

/** The relevant contents of FlowSchemas and PriorityLevelConfigurations. */
export interface FlowSchema {
  readonly name: string
  readonly uid: string
  readonly spec: BuiltIn<'flowcontrol/v1beta2.FlowSchema'>['spec']
}

export interface PriorityLevel {
  readonly name: string
  readonly uid: string
  readonly kind: PriorityLevelKind
}

type PriorityLevelKind =
  /** True if it has no limits. */
  { readonly kind: 'exempt' } | { readonly kind: 'limited'; readonly shares: number; readonly whenFull: WhenFull }

export type WhenFull =
  | { readonly kind: 'reject' }
  | { readonly kind: 'queue'; readonly queues: number; readonly handSize: number; readonly queueLengthMax: number }

/** A stored FlowSchema. */
export function parseFlowSchema(text: string): FlowSchema {
  const { metadata, spec } = requireType('flowcontrol/v1beta2.FlowSchema', JSON.parse(text))
  return { name: metadata.name ?? '', uid: metadata.uid ?? '', spec }
}

/** A stored PriorityLevelConfiguration. */
export function parsePriorityLevel(text: string): PriorityLevel {
  const { metadata, spec } = requireType('flowcontrol/v1beta2.PriorityLevelConfiguration', JSON.parse(text))
  const common = { name: metadata.name ?? '', uid: metadata.uid ?? '' }
  if (spec.type === 'Exempt') return { ...common, kind: { kind: 'exempt' } }
  const limited: Partial<BuiltIn<'flowcontrol/v1beta2.LimitedPriorityLevelConfiguration'>> = spec.limited ?? {}
  const { assuredConcurrencyShares: shares = 30, limitResponse } = limited
  const { queues = 64, handSize = 8, queueLengthLimit: queueLengthMax = 50 } = limitResponse?.queuing ?? {}
  const whenFull: WhenFull = limitResponse?.type === 'Queue' ? { kind: 'queue', queues, handSize, queueLengthMax } : { kind: 'reject' }
  return { ...common, kind: { kind: 'limited', shares, whenFull } }
}

/** The level with the share of each queue for one of several gateways, at least one place. */
export function shareOfLevel(level: PriorityLevel, share: LimitShare): PriorityLevel {
  const { kind } = level
  if (share.of === 1 || kind.kind === 'exempt' || kind.whenFull.kind === 'reject') return level
  const queueLengthMax = Math.max(1, shareOf(kind.whenFull.queueLengthMax, share))
  return { ...level, kind: { ...kind, whenFull: { ...kind.whenFull, queueLengthMax } } }
}
