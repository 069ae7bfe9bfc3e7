import type { KindReaders } from '../../kind/kind-readers.ts'
import type { ApiObject } from '../../meta/object-meta.ts'
import type { Names } from '../../names.ts'

/** One version of a kind: a resource, or the stored form. */
export interface Form {
  readonly apiVersion: string
  readonly readers: KindReaders
}

export interface Conversion {
  readonly names: Names
  readonly from: Form
  readonly to: Form
}

/**
 * Converts an object from the stored version to another or back, without loss: converting back gives an equal object. Data without a
 * field in the target version is kept in annotations. The input is not changed.
 */
export function convert(object: ApiObject, { names, from, to }: Conversion): ApiObject {
  const change = from.readers.reshape?.toStored ?? to.readers.reshape?.fromStored
  if (change === undefined) return { ...object, apiVersion: to.apiVersion }
  const changed = { ...change(object, names), apiVersion: to.apiVersion }
  const decoded = to.readers.decode(changed, { trackUnknown: false })
  if (decoded.kind === 'mismatch') throw new Error(`a ${object.kind} became malformed as ${to.apiVersion}: ${decoded.message}`)
  return decoded.object
}
