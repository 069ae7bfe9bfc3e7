import type { ApiObject } from '@orch/core/meta'
import { compileConditions } from '@orch/core/policies'
import { type BuiltIn, isOfType, requireType } from '@orch/core/schema'
import { readTarget } from '@orch/platform/webhooks'
import { readRule, readSelector } from '../matching/criteria.ts'
import { limits } from './limits.ts'

/** One parsed webhook of a configuration. */
export type Webhook = Readonly<ReturnType<typeof readWebhook>>

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

function readWebhook(webhook: Partial<BuiltIn<'admissionregistration/v1.MutatingWebhook'>>, configuration: string, id: string) {
  return {
    /** Identifies the webhook, also among webhooks of one name in its configuration. */
    id,
    configuration,
    name: webhook.name ?? '',
    ...readTarget(webhook.clientConfig),
    rules: (webhook.rules ?? []).map(readRule),
    /** Conditions besides the rules and selectors. */
    conditions: compileConditions(webhook.matchConditions),
    isEquivalentMatched: webhook.matchPolicy !== 'Exact',
    namespaceSelector: readSelector(webhook.namespaceSelector),
    objectSelector: readSelector(webhook.objectSelector),
    /** A failed call counts as a call that was never made. */
    isIgnoredOnFailure: webhook.failurePolicy === 'Ignore',
    sideEffects: webhook.sideEffects ?? 'Unknown',
    timeoutMs: webhook.timeoutSeconds === undefined ? limits.timeoutMsDefault : webhook.timeoutSeconds * 1_000,
    reviewVersions: webhook.admissionReviewVersions ?? [],
    isReinvoked: webhook.reinvocationPolicy === 'IfNeeded',
  }
}
