import { isJsonObject } from '../json/member.ts'
import type { Names } from '../names.ts'
import type { ConvertedObject } from './objects.ts'

const knownVersions = ['v1', 'v1beta1'] as const

/** A ConversionReview, and the parts that the answer must repeat. */
export type ConversionRequest = ReturnType<typeof createConversionRequest>

/** The contents of a review. */
export interface ConversionQuestion {
  /** The definition's `conversionReviewVersions`, the preferred one first. */
  readonly versions: readonly string[]
  readonly uid: string
  readonly desiredApiVersion: string
  readonly objects: readonly ConvertedObject[]
}

/** Makes a review in the first version that both sides support. Throws if there is none. */
export function createConversionRequest({ versions, uid, desiredApiVersion, objects }: ConversionQuestion, names: Names) {
  const version = versions.map((name) => knownVersions.find((known) => known === name)).find((known) => known !== undefined)
  if (version === undefined) throw new Error('no supported conversion review versions')
  const request = { uid, desiredAPIVersion: desiredApiVersion, objects }
  return { version, uid, review: { kind: reviewKind, apiVersion: `${groupOf(names)}/${version}`, request } }
}

const reviewKind = 'ConversionReview'

function groupOf({ apiDomain }: Names): string {
  return `apiextensions.${apiDomain}`
}

/** The objects of an answer. Throws the answer's error, in kube-apiserver's words. */
export function readConversionResponse(
  answer: unknown,
  { version, uid }: Pick<ConversionRequest, 'version' | 'uid'>,
  names: Names,
): unknown[] {
  if (!isJsonObject(answer)) throw new Error('unrecognized response type: an object was expected')
  const { apiVersion, kind, response } = answer
  if (version === 'v1' && (apiVersion !== `${groupOf(names)}/v1` || kind !== reviewKind)) {
    throw new Error(
      `expected webhook response of ${groupOf(names)}/v1, Kind=${reviewKind}, got ${String(apiVersion ?? '')}, Kind=${String(kind ?? '')}`,
    )
  }
  if (!isJsonObject(response)) throw new Error('no response provided')
  if (version === 'v1' && response['uid'] !== uid) {
    throw new Error(`expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(response['uid'] ?? '')}`)
  }
  const result = isJsonObject(response['result']) ? response['result'] : {}
  const { status = '', message = '' } = result
  if (status !== 'Success') {
    const said = typeof message === 'string' && message !== '' ? `: ${message}` : ''
    throw new Error(`response.result.status was '${String(status)}', not 'Success'${said}`)
  }
  const converted = response['convertedObjects']
  return Array.isArray(converted) ? converted : []
}
