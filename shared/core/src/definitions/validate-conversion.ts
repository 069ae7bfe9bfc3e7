import type { FieldError } from '../meta/status.ts'
import { checkLabel1035 } from '../meta/validate-names.ts'
import { invalidValue, requiredValue, unsupportedValue } from '../validation/field-errors.ts'
import { repeatedPlaces } from '../validation/part.ts'
import { validateClientConfig } from '../validation/webhook-client.ts'
import { findCaBundleProblem } from './ca-bundle.ts'
import type { DefinitionConversion } from './definition-spec.ts'
import { reviewVersions, type Strictness } from './strictness.ts'
import { forbidWithoutWebhook } from './validate-parts.ts'

const strategies = ['None', 'Webhook']

/** Validates the conversion between versions. Paths are those of kube-apiserver's internal form. */
export function validateConversion(conversion: DefinitionConversion | undefined, at: string, strictness: Strictness): FieldError[] {
  if (conversion === undefined) return []
  const { strategy = '', webhook } = conversion
  const versions = webhook?.conversionReviewVersions ?? []
  const errors = checkOneOf(`${at}.strategy`, strategy, strategies)
  if (strategy === 'Webhook') {
    return [
      ...errors,
      ...checkClient(webhook?.clientConfig, `${at}.webhookClientConfig`, strictness),
      ...checkReviewVersions(versions, `${at}.conversionReviewVersions`, strictness),
    ]
  }
  if (webhook?.clientConfig !== undefined) errors.push(forbidWithoutWebhook(`${at}.webhookClientConfig`))
  if (versions.length > 0) errors.push(forbidWithoutWebhook(`${at}.conversionReviewVersions`))
  return errors
}

/** Requires a text to be one of several. */
export function checkOneOf(field: string, value: string, allowed: readonly string[]): FieldError[] {
  if (value === '') return [requiredValue(field)]
  return allowed.includes(value) ? [] : [unsupportedValue(field, value, allowed)]
}

type ClientConfig = NonNullable<DefinitionConversion['webhook']>['clientConfig']

function checkClient(config: ClientConfig, at: string, { needsCaBundle }: Strictness): FieldError[] {
  if (config === undefined) return [requiredValue(at, 'required when strategy is set to Webhook')]
  const problem = needsCaBundle ? findCaBundleProblem(config) : undefined
  const errors = validateClientConfig(config, at)
  return problem === undefined ? errors : [...errors, invalidValue(`${at}.caBundle`, config['caBundle'], problem)]
}

function checkReviewVersions(versions: readonly string[], field: string, { needsKnownReviewVersion }: Strictness): FieldError[] {
  if (versions.length === 0) return [requiredValue(field)]
  const repeated = repeatedPlaces(versions)
  const errors = versions.flatMap((version, index) =>
    repeated.has(index)
      ? [invalidValue(`${field}[${index}]`, version, 'duplicate version')]
      : checkLabel1035(version).map((problem) => invalidValue(`${field}[${index}]`, version, problem)),
  )
  if (!needsKnownReviewVersion || versions.some((version) => reviewVersions.includes(version))) return errors
  return [...errors, invalidValue(field, versions, `must include at least one of ${reviewVersions.join(', ')}`)]
}
