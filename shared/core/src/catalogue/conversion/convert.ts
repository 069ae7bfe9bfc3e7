import type { ApiObject } from '../../meta/object-meta.ts'
import type { Names } from '../../names.ts'
import { decoderOf } from '../../schema/decode.ts'
import { autoscalerToFirst, autoscalerToSecond } from './autoscaler.ts'
import { coreEventToNewer, newerEventToCore } from './event.ts'

/** One form of a kind: a resource, or the form in which it is stored. */
export interface Form {
  readonly type: string
  readonly apiVersion: string
}

export interface Conversion {
  readonly names: Names
  readonly from: Form
  readonly to: Form
}

/**
 * An object of one version in another, nothing lost: converting back gives an equal object. What the other version has no
 * field for travels in annotations. The input stays as it is.
 */
export function convert(object: ApiObject, { names, from, to }: Conversion): ApiObject {
  const change = changes[`${from.type} ${to.type}`]
  if (change === undefined) return { ...object, apiVersion: to.apiVersion }
  const changed = { ...change(object, names), apiVersion: to.apiVersion }
  const decoded = decoderOf(to.type)(changed, { trackUnknown: false })
  if (decoded.kind === 'mismatch') throw new Error(`a ${object.kind} became malformed as ${to.apiVersion}: ${decoded.message}`)
  return decoded.object as ApiObject
}

const sameFields = (object: ApiObject): ApiObject => object

/** Pairs of versions that differ in more than their name: in fields, or in which of them are printed when they are empty. */
const changes: Readonly<Record<string, (object: ApiObject, names: Names) => ApiObject>> = {
  'core/v1.Event events/v1.Event': coreEventToNewer,
  'events/v1.Event core/v1.Event': newerEventToCore,
  'autoscaling/v2.HorizontalPodAutoscaler autoscaling/v1.HorizontalPodAutoscaler': autoscalerToFirst,
  'autoscaling/v1.HorizontalPodAutoscaler autoscaling/v2.HorizontalPodAutoscaler': autoscalerToSecond,
  'autoscaling/v2.HorizontalPodAutoscaler autoscaling/v2beta2.HorizontalPodAutoscaler': sameFields,
  'autoscaling/v2beta2.HorizontalPodAutoscaler autoscaling/v2.HorizontalPodAutoscaler': sameFields,
}
