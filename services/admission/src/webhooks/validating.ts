import { domainGroup } from '@orch/core/names'
import { allowed, denied, type Inquiry, type Plugin, type PluginNeeds, type Verdict } from '../plugin.ts'
import { askWebhook, errorOf, isPassedOver, type WebhookQuestion } from './ask-webhook.ts'
import {
  chooseQuestion,
  createWebhookPlugin,
  isOver,
  lateError,
  noteFailure,
  type WebhookParts,
  type WebhookRequest,
} from './plugin-parts.ts'
import { DetailsCollector } from './verdict-details.ts'

const plugin = 'ValidatingAdmissionWebhook'

const description = {
  plugin,
  kind: 'ValidatingWebhookConfiguration',
  plural: 'validatingwebhookconfigurations',
  phase: 'validate',
} as const

/** ValidatingAdmissionWebhook: webhooks that may refuse, called in parallel. */
export function validatingAdmissionWebhook(needs: PluginNeeds): Plugin {
  return createWebhookPlugin(needs, description, validate)
}

type Asked = Awaited<ReturnType<typeof askOne>>

async function validate(request: WebhookRequest, parts: WebhookParts): Promise<Verdict> {
  const { attributes, inquiry, own, deadline } = request
  const questions: WebhookQuestion[] = []
  for (const webhook of request.webhooks) {
    const chosen = await chooseQuestion(webhook, request, { object: attributes.object, asVersion: own }, parts)
    if (chosen.kind === 'undecided') return denied(chosen.error)
    if (chosen.kind === 'asked') questions.push(chosen.question)
  }
  if (questions.length === 0) return allowed
  if (isOver(deadline)) return denied(lateError())
  // Many calls begin in several turns of the event loop.
  let begun: Promise<unknown> = Promise.resolve()
  const asked = questions.map((question) => {
    begun = begun.then(request.pause)
    return begun.then(() => askOne(question, parts))
  })
  return check(await Promise.all(asked), inquiry, parts)
}

async function askOne(question: WebhookQuestion, parts: WebhookParts) {
  const startedMs = parts.clock.monotonic()
  const outcome = await askWebhook(question, parts)
  return { question, outcome, durationMs: parts.clock.monotonic() - startedMs }
}

/** All are called; of several refusals the client receives the first in order. */
function check(asked: readonly Asked[], inquiry: Inquiry, parts: WebhookParts): Verdict {
  const details = new DetailsCollector(plugin, inquiry)
  for (const [index, { question, outcome, durationMs }] of asked.entries()) {
    details.keep(question, outcome, durationMs)
    noteFailure(question, outcome, parts)
    if (isPassedOver(question, outcome)) {
      const key = `failed-open.${domainGroup(parts.names, 'validating.webhook.admission')}/round_0_index_${index}`
      details.annotate(key, question.webhook.name)
    }
  }
  const error = asked.map(({ question, outcome }) => errorOf(question, outcome)).find((one) => one !== undefined)
  return error === undefined ? { kind: 'allowed', ...details.all } : { kind: 'denied', error, ...details.all }
}
