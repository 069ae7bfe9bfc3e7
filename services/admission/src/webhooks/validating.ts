import type { Attributes } from '@orch/core/contracts'
import { domainGroup } from '@orch/core/names'
import { allowed, type Inquiry, type Plugin, type Registration, type Verdict } from '../plugin.ts'
import { askWebhook, errorOf, isPassedOver, type WebhookOutcome, type WebhookQuestion } from './ask-webhook.ts'
import { matchWebhook } from './match.ts'
import { createWebhookParts, deadlineOf, isAboutWebhooks, isOver, known, lateError, type WebhookParts } from './plugin-parts.ts'
import { Telling } from './told.ts'

const plugin = 'ValidatingAdmissionWebhook'

/** ValidatingAdmissionWebhook: webhooks that may refuse, all asked at once. */
export const validatingAdmissionWebhook: Registration = {
  isDefault: true,
  isConfigurable: true,
  create(needs): Plugin {
    const parts = createWebhookParts(needs, { plugin, plural: 'validatingwebhookconfigurations', phase: 'validate' })
    const { configurations } = parts
    return {
      name: plugin,
      get admissionRules() {
        return configurations.admissionRules
      },
      admissionRuleSources: () => configurations.sources,
      onAdmissionRulesChange: (listener) => configurations.onChange(listener),
      validate: (attributes, inquiry) => (isAboutWebhooks(attributes, parts.names) ? allowed : validate(attributes, inquiry, parts)),
      close: () => parts.close(),
    }
  },
}

interface Asked {
  readonly question: WebhookQuestion
  readonly outcome: WebhookOutcome
  readonly durationMs: number
}

async function validate(attributes: Attributes, inquiry: Inquiry, parts: WebhookParts): Promise<Verdict> {
  const deadline = deadlineOf(inquiry, parts)
  const notKnown = await known(parts, attributes, deadline)
  if (notKnown !== undefined) return { kind: 'denied', error: notKnown }
  const own = parts.equivalents.own(attributes)
  const { traceparent } = inquiry.context
  const questions: WebhookQuestion[] = []
  for (const webhook of parts.configurations.webhooks) {
    const match = await matchWebhook(webhook, attributes, parts)
    if (match.kind === 'passed over') continue
    if (match.kind === 'undecided') return { kind: 'denied', error: match.error }
    const { form } = match
    const object = parts.forms.convert(attributes.object, own, form)
    const oldObject = parts.forms.convert(attributes.oldObject, own, form)
    questions.push({ webhook, isMutating: false, attributes, form, own, object, oldObject, deadline, traceparent })
  }
  if (questions.length === 0) return allowed
  if (isOver(deadline)) return { kind: 'denied', error: lateError() }
  return judge(await Promise.all(questions.map((question) => askOne(question, parts))), inquiry, parts)
}

async function askOne(question: WebhookQuestion, parts: WebhookParts): Promise<Asked> {
  const startedMs = parts.clock.monotonic()
  const outcome = await askWebhook(question, parts)
  return { question, outcome, durationMs: parts.clock.monotonic() - startedMs }
}

/** All are called; of several refusals the client receives the first in order. */
function judge(asked: readonly Asked[], inquiry: Inquiry, { names, log }: WebhookParts): Verdict {
  const telling = new Telling(plugin, inquiry)
  for (const [index, { question, outcome, durationMs }] of asked.entries()) {
    telling.keep(question, outcome, durationMs)
    if (outcome.kind !== 'failed') continue
    const { name, configuration } = question.webhook
    const isIgnored = isPassedOver(question, outcome)
    log.warn({ webhook: name, configuration, why: outcome.message, isIgnored }, 'a webhook failed')
    if (isIgnored) telling.annotate(`failed-open.${domainGroup(names, 'validating.webhook.admission')}/round_0_index_${index}`, name)
  }
  const error = asked.map(({ question, outcome }) => errorOf(question, outcome)).find((one) => one !== undefined)
  return error === undefined ? { kind: 'allowed', ...telling.all } : { kind: 'denied', error, ...telling.all }
}
