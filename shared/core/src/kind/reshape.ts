import type { ApiObject } from '../meta/object-meta.ts'
import type { Names } from '../names.ts'

/** The conversion of a version's objects to stored ones, and back, if they differ in more than their name. Nothing is changed in place. */
export interface Reshape {
  readonly toStored: (object: ApiObject, names: Names) => ApiObject
  readonly fromStored: (object: ApiObject, names: Names) => ApiObject
}

/** The reshape of versions that have the same fields and differ in the empty fields that they print. */
export const sameFields: Reshape = { toStored: (object) => object, fromStored: (object) => object }
