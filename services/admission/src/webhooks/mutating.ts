import { jsonEqual, printJson } from '@orch/core/json'
import { type ApiObject, internal, StatusError } from '@orch/core/meta'
import { domainGroup } from '@orch/core/names'
import { applyJsonPatch, type JsonPatch } from '@orch/core/patch'
import type { RequestVersion } from '../matching/equivalents.ts'
import type { Inquiry, Plugin, PluginNeeds, Verdict } from '../plugin.ts'
import { memoryOf, objectHasChanged, type ReinvocationMemory } from '../reinvocation-memory.ts'
import { askWebhook, errorOf, failure, isPassedOver, type WebhookOutcome, type WebhookQuestion } from './ask-webhook.ts'
import {
  chooseQuestion,
  createWebhookPlugin,
  isOver,
  lateError,
  noteFailure,
  unlessUnconverted,
  type WebhookParts,
  type WebhookRequest,
} from './plugin-parts.ts'
import { isApiObject, readPatch } from './review.ts'
import { DetailsCollector } from './verdict-details.ts'
import type { Webhook } from './webhook.ts'

const plugin = 'MutatingAdmissionWebhook'

const description = {
  plugin,
  kind: 'MutatingWebhookConfiguration',
  plural: 'mutatingwebhookconfigurations',
  phase: 'mutate',
} as const

/** MutatingAdmissionWebhook: webhooks that may change the object, in sequence. */
export function mutatingAdmissionWebhook(needs: PluginNeeds): Plugin {
  return createWebhookPlugin(needs, description, mutate)
}

/** The object between webhooks, in the version of the last one. */
interface Journey {
  object: unknown
  asVersion: RequestVersion
  isDirty: boolean
}

async function mutate(request: WebhookRequest, parts: WebhookParts): Promise<Verdict> {
  const { attributes, inquiry, own } = request
  const memory = memoryOf(inquiry, plugin)
  const { reinvocation } = inquiry
  // In the second round built-in plugins have run in between.
  if (reinvocation.isSecondRound && !jsonEqual(memory.output, attributes.object)) objectHasChanged(memory)
  const details = new DetailsCollector(plugin, inquiry)
  const journey: Journey = { object: attributes.object, asVersion: own, isDirty: false }
  for (const [index, webhook] of request.webhooks.entries()) {
    if (reinvocation.isSecondRound && !memory.due.has(webhook.id)) continue
    const chosen = await chooseQuestion(webhook, request, journey, parts)
    if (chosen.kind === 'passed over') continue
    if (chosen.kind === 'undecided') return { kind: 'denied', error: chosen.error, ...details.all }
    const { question } = chosen
    journey.object = question.object
    journey.asVersion = question.asVersion
    const error = await callOne(question, index, { journey, details, inquiry, memory, parts })
    if (error !== undefined) return { kind: 'denied', error, ...details.all }
  }
  const context = { timeoutMs: request.deadline.remainingMs(), traceparent: inquiry.context.traceparent }
  const back = async () => parts.converter.convert(journey.object, journey.asVersion, own, context)
  const object = journey.isDirty ? await unlessUnconverted(back) : attributes.object
  if (object instanceof StatusError) return { kind: 'denied', error: object, ...details.all }
  memory.output = object
  return { kind: 'allowed', ...(journey.isDirty ? { object } : {}), ...details.all }
}

interface CallNeeds {
  readonly journey: Journey
  readonly details: DetailsCollector
  readonly inquiry: Inquiry
  readonly memory: ReinvocationMemory
  readonly parts: WebhookParts
}

/** One call with its consequences; the error ends the request. */
async function callOne(question: WebhookQuestion, index: number, needs: CallNeeds): Promise<StatusError | undefined> {
  const { journey, details, inquiry, memory, parts } = needs
  const { webhook, deadline } = question
  const startedMs = parts.clock.monotonic()
  const called = await askWebhook(question, parts)
  const { outcome, patch, object, isChanged } = called.kind === 'allowed' ? changed(question, called, parts) : nothing(called)
  details.keep(question, outcome, parts.clock.monotonic() - startedMs, patch)
  annotate(question, index, { outcome, patch, isChanged }, needs)
  if (object !== undefined) {
    journey.object = object
    journey.isDirty = true
  }
  if (isChanged) {
    objectHasChanged(memory)
    inquiry.reinvocation.request()
  }
  if (webhook.isReinvoked) memory.reinvocable.add(webhook.id)
  noteFailure(question, outcome, parts)
  if (outcome.kind !== 'failed') return errorOf(question, outcome)
  if (!isPassedOver(question, outcome)) return outcome.error
  return isOver(deadline) ? lateError() : undefined
}

interface Change {
  readonly outcome: WebhookOutcome
  readonly patch: JsonPatch
  /** Undefined without a patch. */
  readonly object: ApiObject | undefined
  readonly isChanged: boolean
}

function nothing(outcome: WebhookOutcome): Change {
  return { outcome, patch: [], object: undefined, isChanged: false }
}

/** The object after an allowing webhook. */
function changed(question: WebhookQuestion, outcome: Extract<WebhookOutcome, { kind: 'allowed' }>, { converter }: WebhookParts): Change {
  const { webhook, object } = question
  const { review } = outcome
  const { patch: text, patchType } = review
  if (text === '') return nothing(outcome)
  const impossible = (error: StatusError): Change => nothing({ kind: 'impossible', error, review })
  const read = readPatch(text)
  if (read.kind === 'refused') return nothing(failure(webhook, `received undecodable patch in webhook response: ${read.message}`, 503))
  const { patch } = read
  if (patch.length === 0) return nothing(outcome)
  if (!isApiObject(object)) {
    const why = 'attempted to modify the object, which is not supported for this operation'
    return impossible(internal(`admission webhook ${JSON.stringify(webhook.name)} ${why}`))
  }
  if (patchType !== 'JSONPatch') return nothing(failure(webhook, `unsupported patch type ${JSON.stringify(patchType)}`, 400))
  const patched = applyJsonPatch(object, patch)
  if (patched.kind === 'refused') {
    const { cause, message } = patched.error
    return impossible(internal(cause instanceof Error ? cause.message : message))
  }
  const completed = converter.complete(patched.value, object)
  if (completed.kind === 'refused') return impossible(completed.error)
  return { outcome, patch, object: completed.object, isChanged: completed.isChanged }
}

function annotate(
  question: WebhookQuestion,
  index: number,
  { outcome, patch, isChanged }: Omit<Change, 'object'>,
  { details, inquiry, parts }: CallNeeds,
): void {
  const { webhook } = question
  const place = `${domainGroup(parts.names, 'mutation.webhook.admission')}/round_${inquiry.reinvocation.isSecondRound ? 1 : 0}_index_${index}`
  const named: Pick<Webhook, 'configuration'> & { readonly webhook: string } = {
    configuration: webhook.configuration,
    webhook: webhook.name,
  }
  details.annotate(place, JSON.stringify({ ...named, mutated: isChanged }))
  if (patch.length > 0) {
    const patchPlace = `${domainGroup(parts.names, 'patch.webhook.admission')}/round_${inquiry.reinvocation.isSecondRound ? 1 : 0}_index_${index}`
    details.annotate(patchPlace, printJson({ ...named, patch, patchType: 'JSONPatch' }), 'Request')
  }
  if (isPassedOver(question, outcome)) details.annotate(`failed-open.${place}`, webhook.name)
}
