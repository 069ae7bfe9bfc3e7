import type { Attributes, CommitRequest, Validated } from '@orch/core/contracts'
import type { GatewayRequest } from '../request/request.ts'

export type Conditions = CommitRequest['conditions']
export type Operation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'

/** A request for admission, once for each phase. */
export interface Admitting {
  readonly request: GatewayRequest
  readonly attributes: Attributes
}

/** The result of admission for a write. */
export interface Admitted {
  /** Undefined if unchanged, or if admission was not called. It belongs to admission and is never changed in place. */
  readonly object: unknown
  /** Conditions that must still hold at the commit. */
  readonly conditions: Conditions
  /** The reservations for the write, whose outcome must be reported. */
  readonly reservations: readonly string[]
  /** Set by mutating admission: validating admission also allows the request, by the rules of that moment. */
  readonly ahead?: Ahead | undefined
}

/** The early verdict of validating admission, requested together with mutating. */
export interface Ahead extends Admitting {
  readonly answer: Validated
  /** The admission rules of that moment: after a change other plugins may match. */
  readonly admissionRules: object
}

/** Calls admission for a request if an admission rule matches. It refuses by throwing. */
export interface Admitter {
  /** Undefined if no admission rule matches. */
  mutate(admitting: Admitting): Promise<Admitted | undefined>
  /** Validates the object; undefined if no rule matches. If `mutation` already contains a positive verdict, admission is not called again. */
  validate(admitting: Admitting, mutation?: Admitted): Promise<Admitted | undefined>
  /** True if admission has sent its rules. */
  readonly hasRules: boolean
  /**
   * Reports the end of a write and its reservations. Returns a promise if the object may change admission rules, which it waits for.
   */
  settle(ended: EndedWrite): Promise<void> | undefined
  close(): void
}

/** A finished write. */
interface EndedWrite {
  readonly writeId: string
  readonly reservations: readonly string[]
  /** The written resource, by its storage prefix. */
  readonly resource: string
  /** Undefined if it was not committed. */
  readonly revision: number | undefined
}
