import type { Names } from '../../names.ts'
import { warningsOfType } from '../kinds/kind-of-type.ts'
import type { Part } from '../validation/part.ts'

/** Texts for `Warning` headers about a new object, or about one whose main part an update writes. */
export function warningsOf(type: string, object: Part, live: Part | undefined, names: Names): string[] {
  return warningsOfType(type)?.(object, live, names) ?? []
}
