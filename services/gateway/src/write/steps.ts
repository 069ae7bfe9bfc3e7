import { type AdmissionParts, admit, admitDeletion, mutate } from './admission.ts'
import {
  allowCreate,
  type CheckParts,
  checkMetadata,
  refuseEscalation,
  refuseTerminating,
  validateChange,
  validateNew,
  warn,
} from './checks.ts'
import {
  type CommitParts,
  commitChange,
  commitMark,
  commitNew,
  commitRemoval,
  encode,
  encodeByWebhook,
  removeReleased,
  skipUnchanged,
} from './commit.ts'
import type { ChangeDraft, NewDraft, Plan, WriteStep } from './draft.ts'
import { type BootstrapManagers, type FindOwnersParts, findOwners, type OwnershipParts, ownBootstrap } from './ownership.ts'
import {
  clearNew,
  completeChange,
  completeNew,
  dropDisabled,
  fillDefaults,
  giveStatus,
  keepLive,
  limitOwners,
  mergeAdmittedOwners,
  mergeOwners,
  type PrepareParts,
} from './prepare.ts'
import { type ReserveParts, reserve, reserveMark } from './reservation.ts'

/** The dependencies of the steps of a request's write. */
export type StepParts = PrepareParts & FindOwnersParts & AdmissionParts & CheckParts & ReserveParts & CommitParts

/** The dependencies of the steps of the server's own objects. */
export type BootstrapParts = PrepareParts & OwnershipParts & CommitParts

/**
 * The steps of each kind of write, in order. All writes take the same steps; a list leaves out those that do not apply. The verb's own
 * step, which decides the intended change, is taken before each.
 */
export const createSteps: readonly WriteStep<StepParts, NewDraft>[] = [
  refuseTerminating,
  limitOwners,
  clearNew,
  fillDefaults,
  mergeOwners,
  findOwners,
  mutate,
  mergeAdmittedOwners,
  dropDisabled,
  completeNew,
  refuseEscalation,
  validateNew,
  reserve,
  warn,
  admit,
  encodeByWebhook,
  commitNew,
]

/** A PUT or an apply of an object that is not there: it must be allowed as a create too. */
export const createByNameSteps: readonly WriteStep<StepParts, NewDraft>[] = [allowCreate, ...createSteps]

/** An update, a patch or an apply of an object, or of a part of it. */
export const updateSteps: readonly WriteStep<StepParts, ChangeDraft>[] = [
  limitOwners,
  keepLive,
  fillDefaults,
  mergeOwners,
  findOwners,
  checkMetadata,
  mutate,
  mergeAdmittedOwners,
  dropDisabled,
  completeChange,
  refuseEscalation,
  validateChange,
  reserve,
  warn,
  admit,
  encode,
  skipUnchanged,
  removeReleased,
  commitChange,
]

/** A deletion that finalizers or a grace period hold up. */
export const markSteps: readonly WriteStep<StepParts, ChangeDraft>[] = [admitDeletion, reserveMark, encodeByWebhook, commitMark]

/** A deletion. */
export const removeSteps: readonly WriteStep<StepParts, ChangeDraft>[] = [admitDeletion, commitRemoval]

/** The owners and the status of an object that the server itself creates. */
export interface BootstrapPart extends BootstrapManagers {
  /** The initial status; by default none. */
  readonly status?: Readonly<Record<string, unknown>>
}

/** The steps for an object that the server creates at its first start; admission and validation do not see it. */
export function bootstrapSteps({ status, ...managers }: BootstrapPart): readonly WriteStep<BootstrapParts, NewDraft<Plan>>[] {
  return [clearNew, giveStatus(status), fillDefaults, ownBootstrap(managers), completeNew, commitNew]
}
