import { findUnownable } from './check.ts'
import type { FieldSet } from './field-set.ts'
import { hasOutline, type Outline, outlineOf } from './outline.ts'
import type { Shape } from './shape.ts'
import { toFieldSet } from './to-field-set.ts'

/** The fields of a configuration that can be owned, and the outline that all configurations with these fields have. */
interface AppliedFields {
  readonly outline: Outline
  readonly set: FieldSet
}

/** Those who apply mostly apply the same fields again. */
const keptPerShape = 4

const appliedFields = new WeakMap<Shape, AppliedFields[]>()

/** The fields that a configuration sets, or what prevents their ownership. */
export function readAppliedFields(shape: Shape, config: unknown): FieldSet | { readonly problems: readonly string[] } {
  const kept = appliedFields.get(shape) ?? []
  const known = kept.find(({ outline }) => hasOutline(outline, config))
  if (known !== undefined) return known.set
  const problems = findUnownable(shape, config)
  if (problems.length > 0) return { problems }
  const set = toFieldSet(shape, config)
  const outline = outlineOf(shape, config, undefined)
  if (outline !== undefined) appliedFields.set(shape, [{ outline, set }, ...kept.slice(0, keptPerShape - 1)])
  return set
}
