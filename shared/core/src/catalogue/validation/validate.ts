import { gatesByDefault, type IsGateOn } from '../../feature-gates.ts'
import type { FieldError } from '../../meta/status.ts'
import type { Names } from '../../names.ts'
import { validateRequired } from '../../schema/required.ts'
import { rulesOfType } from '../kinds/kind-of-type.ts'
import { refuseDisabledValues } from './gated-values.ts'
import type { Part } from './part.ts'

/** An object on its way into storage. */
export interface ValidationRequest {
  readonly type: string
  /** As it came, or as the patch left it: tells what was said from what was filled in. */
  readonly body: unknown
  /** Decoded and completed. */
  readonly object: Part
  /** The object that is being replaced; absent on create. */
  readonly live?: Part
  readonly part: 'main' | 'status'
  readonly names: Names
  /** Absent: every feature is as it is by default. */
  readonly isGateOn?: IsGateOn
}

/**
 * Everything that is wrong with an object beside its metadata; empty when nothing is. A kind's own rules know more of a field
 * than its type does, so the type only speaks of fields that they say nothing about.
 */
export function validateObject({ type, body, object, live, part, names, isGateOn = gatesByDefault }: ValidationRequest): FieldError[] {
  const rules = rulesOfType(type)
  const own = rules?.[part]?.(object, live, names, body, isGateOn) ?? []
  if (part === 'main') own.push(...refuseDisabledValues(type, object, live, isGateOn))
  if (rules?.areComplete === true || rules?.areComplete === part) return own
  const general = validateRequired(type, body, part)
  if (general.length === 0) return own
  const told = new Set(own.map((error) => error.field))
  const toldAbove = new Set(own.flatMap((error) => fieldsAbove(error.field)))
  return [...own, ...general.filter(({ field }) => !told.has(field) && !toldAbove.has(field) && !told.has(field.replace(/\[\d+\]$/, '')))]
}

/** What is said of a part of a field is said of the field. */
function fieldsAbove(field: string): string[] {
  return [...field.matchAll(/[.[]/g)].map(({ index }) => field.slice(0, index))
}
