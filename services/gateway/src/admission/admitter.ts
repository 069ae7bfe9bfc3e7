import type { Attributes, CommitRequest, Validated } from '@orch/core/contracts'
import type { GatewayRequest } from '../request/request.ts'

export type Conditions = CommitRequest['conditions']
export type Operation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'

/** A request that admission may be asked about, once for each phase. */
export interface Admitting {
  readonly request: GatewayRequest
  readonly attributes: Attributes
}

/** The result of admission for a write. */
export interface Admitted {
  /** Absent: unchanged, and not even asked about. It belongs to admission and is never changed in place. */
  readonly object: unknown
  /** Conditions that must still hold at the commit. */
  readonly conditions: Conditions
  /** The reservations for the write: its outcome must be reported. */
  readonly reservations: readonly string[]
  /** Set by mutating admission: validating admission allows the request too, by its rules of that moment. */
  readonly ahead?: Ahead | undefined
}

/** The answer of validating, asked ahead together with mutating. */
export interface Ahead extends Admitting {
  readonly answer: Validated
  /** The admission rules of that moment: after a change of them other plugins may be called. */
  readonly admissionRules: object
}

/** Asks admission about a request, where admission has something to say. It refuses by throwing. */
export interface Admitter {
  /** undefined: admission has nothing to say. */
  mutate(admitting: Admitting): Promise<Admitted | undefined>
  /** The same. `mutation` may have the verdict of validating; where that holds, it is not asked again. */
  validate(admitting: Admitting, mutation?: Admitted): Promise<Admitted | undefined>
  /** True if admission has sent its rules. */
  readonly hasRules: boolean
  /** Resources whose objects decide the admission rules, by their storage prefixes. */
  readonly ruleSources: Pick<ReadonlySet<string>, 'has'>
  /** Reports how a write ended for which something was reserved, or whose resource is one of `ruleSources`. A promise: its object changes admission rules, which it waits for. */
  settle(ended: EndedWrite): Promise<void> | undefined
  close(): void
}

/** A write that is over. */
interface EndedWrite {
  readonly writeId: string
  readonly reservations: readonly string[]
  /** The written resource, by its storage prefix. */
  readonly resource: string
  /** undefined: it was not committed. */
  readonly revision: number | undefined
}
