import type { ApiObject } from '../meta/object-meta.ts'
import type { Names } from '../names.ts'

/** Converts objects of a version to the stored version and back, if more than the version name differs. Objects are not changed in place. */
export interface Reshape {
  readonly toStored: (object: ApiObject, names: Names) => ApiObject
  readonly fromStored: (object: ApiObject, names: Names) => ApiObject
}

/** The reshape of versions with the same fields, which differ in the empty fields that they print. */
export const sameFields: Reshape = { toStored: (object) => object, fromStored: (object) => object }
