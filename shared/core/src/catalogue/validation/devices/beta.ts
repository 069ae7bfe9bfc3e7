import type { Rules } from '../../../kind/define-resource.ts'
import type { FieldError } from '../../../meta/status.ts'
import type { Names } from '../../../names.ts'
import type { Part } from '../../../validation/part.ts'
import type { RuleContext } from '../../../validation/rule-book.ts'
import { claimTemplateToFirst, claimToFirst, deviceSliceToFirst, plainSliceToFirst } from '../../conversion/devices.ts'
import { validateWithExpressions } from './expressions.ts'

type ToFirst = (object: Part) => Part

/** The rules of v1beta1: the object is converted to v1 and validated by the rules of v1. */
const asFirst =
  (type: string, toFirst: ToFirst): NonNullable<Rules['main']> =>
  (object, _live, _names, context) =>
    validateWithExpressions(toFirst(object), type, contextOf(context, toFirst))

function contextOf(context: RuleContext, toFirst: ToFirst): RuleContext {
  return { ...context, live: context.live && toFirst(context.live) }
}

export const validateBetaClaim = asFirst('resource/v1.ResourceClaim', claimToFirst)
export const validateBetaClaimTemplate = asFirst('resource/v1.ResourceClaimTemplate', claimTemplateToFirst)
export const validateBetaSlice = asFirst('resource/v1.ResourceSlice', deviceSliceToFirst)
export const validatePlainSlice = asFirst('resource/v1.ResourceSlice', plainSliceToFirst)

/** The status is as in v1, but the requests that it refers to are not. */
export function validateBetaClaimStatus(claim: Part, _live: Part | undefined, _names: Names, context: RuleContext): FieldError[] {
  const object = claimToFirst(claim)
  return context.rules.checkObject('resource/v1.ResourceClaim', 'status', { ...contextOf(context, claimToFirst), object })
}
