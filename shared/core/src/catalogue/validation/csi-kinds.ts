import type { FieldError } from '../../meta/status.ts'
import { duplicateValue, invalidValue, unsupportedValue } from '../../validation/field-errors.ts'
import { itemsOf, type Part, textOf } from '../../validation/part.ts'
import { liveAt, type RuleContext, type TypeRules } from '../../validation/rule-book.ts'
import { numberOf } from './checks.ts'

const tokenSecondsMin = 600
const tokenSecondsMax = 2 ** 32

/** A CSIDriver, whose fields about attaching are immutable, and a CSIStorageCapacity. */
export const csiRules: Readonly<Record<string, TypeRules>> = {
  'storage/v1.CSIDriver': ['spec'],
  'storage/v1.CSIDriverSpec': [
    ...['attachRequired', 'podInfoOnMount', 'storageCapacity', 'fsGroupPolicy'],
    validateTokens,
    validateModes,
    { passedOver: ['tokenRequests', 'volumeLifecycleModes'] },
    ...['nodeAllocatableUpdatePeriodSeconds', requireTokens, keepAttached],
  ],
  'storage/v1.CSIStorageCapacity': ['nodeTopology', 'storageClassName', 'capacity'],
}

/** kube-apiserver uses another name for the field in the error. */
function keepAttached(errors: FieldError[], spec: Part, at: string, context: RuleContext): void {
  if (context.live === undefined || spec['attachRequired'] === liveAt(context, at)['attachRequired']) return
  errors.push(invalidValue(`${at}.attachedRequired`, spec['attachRequired'], 'field is immutable'))
}

function requireTokens(errors: FieldError[], spec: Part, at: string, { isGateOn }: RuleContext): void {
  const inSecrets = spec['serviceAccountTokenInSecrets']
  if (!isGateOn('CSIServiceAccountTokenSecrets') || typeof inSecrets !== 'boolean' || itemsOf(spec, 'tokenRequests').length > 0) return
  const detail = 'serviceAccountTokenInSecrets is set but no tokenRequests are specified'
  errors.push(invalidValue(`${at}.serviceAccountTokenInSecrets`, inSecrets, detail))
}

/** Like kube-apiserver, reports the list and not its item. */
function validateModes(errors: FieldError[], spec: Part, at: string): void {
  const modes = ['Persistent', 'Ephemeral']
  for (const mode of itemsOf<string>(spec, 'volumeLifecycleModes')) {
    if (!modes.includes(mode)) errors.push(unsupportedValue(`${at}.volumeLifecycleModes`, mode, modes))
  }
}

function validateTokens(errors: FieldError[], spec: Part): void {
  const audiences = new Set<string>()
  for (const [index, request] of itemsOf(spec, 'tokenRequests').entries()) {
    const at = `spec.tokenRequests[${index}]`
    const audience = textOf(request, 'audience')
    const seconds = numberOf(request, 'expirationSeconds') ?? tokenSecondsMin
    const refuse = (detail: string): void => void errors.push(invalidValue(`${at}.expirationSeconds`, seconds, detail))
    if (audiences.has(audience)) errors.push(duplicateValue(`${at}.audience`, audience))
    else if (seconds < tokenSecondsMin) refuse('may not specify a duration less than 10 minutes')
    else if (seconds > tokenSecondsMax) refuse('may not specify a duration larger than 2^32 seconds')
    audiences.add(audience)
  }
}
