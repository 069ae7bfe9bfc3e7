import type { Rules } from '../../../kind/define-resource.ts'
import type { Reshape } from '../../../kind/reshape.ts'
import type { ApiObject } from '../../../meta/object-meta.ts'
import type { FieldError } from '../../../meta/status.ts'
import type { Names } from '../../../names.ts'
import type { Part } from '../../../validation/part.ts'
import type { RuleContext } from '../../../validation/rule-book.ts'
import { basicSlice, flatClaim, flatClaimTemplate } from '../../conversion/devices.ts'
import { validateWithExpressions } from './expressions.ts'

type Rule = NonNullable<Rules['main']>

/** The rules of objects of v1beta1: those of v1, of the objects as v1 has them. */
const asStored =
  (type: string, { toStored }: Reshape): Rule =>
  (object, _live, names, context) =>
    validateWithExpressions(storedPart(object, names, toStored), type, storedContext(context, names, toStored))

function storedPart(object: Part, names: Names, toStored: Reshape['toStored']): Part {
  return toStored(object as ApiObject, names)
}

function storedContext(context: RuleContext, names: Names, toStored: Reshape['toStored']): RuleContext {
  return { ...context, live: context.live && storedPart(context.live, names, toStored) }
}

export const validateBetaClaim = asStored('resource/v1.ResourceClaim', flatClaim)
export const validateBetaClaimTemplate = asStored('resource/v1.ResourceClaimTemplate', flatClaimTemplate)
export const validateBetaSlice = asStored('resource/v1.ResourceSlice', basicSlice)

/** The status is as in v1; the requests that it refers to are not. */
export function validateBetaClaimStatus(claim: Part, _live: Part | undefined, names: Names, context: RuleContext): FieldError[] {
  const { toStored } = flatClaim
  const object = storedPart(claim, names, toStored)
  return context.rules.checkObject('resource/v1.ResourceClaim', 'status', { ...storedContext(context, names, toStored), object })
}
