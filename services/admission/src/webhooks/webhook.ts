import type { ApiObject } from '@orch/core/meta'
import { type CompiledCondition, compileConditions } from '@orch/core/policies'
import { type BuiltIn, isOfType, requireType } from '@orch/core/schema'
import { readTarget, type WebhookTarget } from '@orch/platform/webhooks'
import { type Criteria, readRule, readSelector } from '../matching/criteria.ts'
import { limits } from './limits.ts'

/** One parsed webhook of a configuration. */
export interface Webhook extends WebhookTarget, Criteria {
  /** Identifies the webhook, also among webhooks of one name in its configuration. */
  readonly id: string
  readonly configuration: string
  readonly name: string
  /** Conditions besides the rules and selectors. */
  readonly conditions: readonly CompiledCondition[]
  /** A failed call counts as a call that was never made. */
  readonly isIgnoredOnFailure: boolean
  readonly sideEffects: string
  readonly timeoutMs: number
  readonly reviewVersions: readonly string[]
  readonly isReinvoked: boolean
}

/** The webhooks of a stored configuration, in its order. */
export function readWebhooks(configuration: ApiObject): readonly Webhook[] {
  const name = configuration.metadata.name ?? ''
  const counts = new Map<string, number>()
  const { webhooks } = isOfType('admissionregistration/v1.MutatingWebhookConfiguration', configuration)
    ? configuration
    : requireType('admissionregistration/v1.ValidatingWebhookConfiguration', configuration)
  return (webhooks ?? []).map((webhook) => {
    const own = webhook.name ?? ''
    const count = counts.get(own) ?? 0
    counts.set(own, count + 1)
    return readWebhook(webhook, name, `${name}/${own}/${count}`)
  })
}

function readWebhook(webhook: Partial<BuiltIn<'admissionregistration/v1.MutatingWebhook'>>, configuration: string, id: string): Webhook {
  return {
    id,
    configuration,
    name: webhook.name ?? '',
    ...readTarget(webhook.clientConfig),
    rules: (webhook.rules ?? []).map(readRule),
    conditions: compileConditions(webhook.matchConditions),
    isEquivalentMatched: webhook.matchPolicy !== 'Exact',
    namespaceSelector: readSelector(webhook.namespaceSelector),
    objectSelector: readSelector(webhook.objectSelector),
    isIgnoredOnFailure: webhook.failurePolicy === 'Ignore',
    sideEffects: webhook.sideEffects ?? 'Unknown',
    timeoutMs: webhook.timeoutSeconds === undefined ? limits.timeoutMsDefault : webhook.timeoutSeconds * 1_000,
    reviewVersions: webhook.admissionReviewVersions ?? [],
    isReinvoked: webhook.reinvocationPolicy === 'IfNeeded',
  }
}
