import { UnknownOutcomeError } from '@orch/core/contracts'
import type { Admitted, Admitter } from '../admission/admitter.ts'
import type { PlannedWrite } from './write.ts'

/** What tells admission how a write has ended. */
export interface SettlementParts {
  readonly admitter: Pick<Admitter, 'settle' | 'isSource' | 'reached'>
}

/** The end of a write as far as admission wants to know it. */
export interface Settlement extends Disposable {
  /** Waits for the commit, and tells how it ended. When nobody knows, nothing is told; what was refused was not written. What admission's interests are made from waits for them. */
  commit<O extends { readonly kind: string; readonly revision?: number }>(commit: Promise<O>): Promise<O>
}

/** Until the end of its scope a write is either committed, or what admission has reserved for it is given back. */
export function openSettlement({ id, target }: PlannedWrite, { reservations }: Admitted, { admitter }: SettlementParts): Settlement {
  let isTold = false
  return {
    async commit(commit) {
      try {
        const outcome = await commit
        isTold = true
        const { revision } = outcome
        admitter.settle(id, reservations, revision)
        const { prefix } = target.served.resource.stored
        if (revision !== undefined && admitter.isSource(prefix)) await admitter.reached(prefix, revision)
        return outcome
      } catch (error) {
        isTold ||= error instanceof UnknownOutcomeError
        throw error
      }
    },
    [Symbol.dispose]() {
      if (!isTold) admitter.settle(id, reservations, undefined)
    },
  }
}
