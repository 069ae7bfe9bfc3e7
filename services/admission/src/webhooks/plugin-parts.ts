import { reviewsGate } from '@orch/core/catalogue'
import { type Attributes, type MetricCount, objectKey } from '@orch/core/contracts'
import { parseBytes } from '@orch/core/json'
import { type ApiObject, notFound, StatusError, serviceUnavailable, timeout } from '@orch/core/meta'
import { reportConditions } from '@orch/core/policies'
import { type Pause, pauses, RareLines, runWithPauses } from '@orch/platform'
import { createServiceAddresses, createWebhookCaller, noCredentials } from '@orch/platform/webhooks'
import { Manifests } from '../manifests/manifests.ts'
import { isAboutAdmission, isReview } from '../matching/about-admission.ts'
import { ConditionCounts } from '../matching/condition-counts.ts'
import { type Equivalents, equivalentsOf, type RequestVersion } from '../matching/equivalents.ts'
import { isOfNamespace, type MatchNeeds, matchWebhook, type NamespaceLabels } from '../matching/match.ts'
import { AskedAccesses, requestInputOf, type SeenRequest } from '../matching/request-input.ts'
import { allowed, denied, forbid, type Inquiry, type Plugin, type PluginNeeds, type Verdict } from '../plugin.ts'
import { type AskWebhookNeeds, type Deadline, isPassedOver, type WebhookOutcome, type WebhookQuestion } from './ask-webhook.ts'
import { type Configurations, followConfigurations } from './configurations.ts'
import { limits } from './limits.ts'
import { createVersionConverter, type VersionConverter } from './version-converter.ts'
import type { Webhook } from './webhook.ts'

/** The dependencies of both webhook plugins. */
export interface WebhookParts extends AskWebhookNeeds, MatchNeeds {
  readonly equivalents: Equivalents
  readonly configurations: Configurations
  readonly converter: VersionConverter
  readonly conditionCounts: ConditionCounts
  readonly rareLines: RareLines
  /** See `readNamespace`. */
  namespaceOf(attributes: Attributes): Promise<unknown>
  close(): void
}

/** The differences between the two plugins. */
interface WebhookPluginDescription {
  readonly plugin: 'MutatingAdmissionWebhook' | 'ValidatingAdmissionWebhook'
  readonly kind: string
  readonly plural: string
  readonly phase: 'mutate' | 'validate'
}

function createWebhookParts(needs: PluginNeeds, { plugin, kind, plural, phase }: WebhookPluginDescription): WebhookParts {
  const { storage, nodes, catalogue, clock, log, random, chance, tracer, calls, settings } = needs
  const { names } = catalogue
  const equivalents = equivalentsOf(catalogue)
  const manifests = settings.manifests.get(plugin) ?? new Manifests()
  const configurations = followConfigurations({ storage, catalogue, clock, log, random, equivalents, manifests, kind, plural, phase })
  const addresses = createServiceAddresses({ storage, nodes, names, clock, random, places: settings.webhookPlaces })
  const credentials = settings.webhookCredentials.get(plugin) ?? noCredentials
  const converter = createVersionConverter(needs)
  const { allowsLinkLocal } = settings.webhookPlaces
  const caller = createWebhookCaller({
    ...{ addresses, credentials, allowsLinkLocal, clock, calls },
    userAgent: `${names.serverManager}-admission`,
  })
  return {
    caller,
    names,
    clock,
    reviewUid: chance.stream('review uid').uuid,
    log,
    rareLines: new RareLines(clock),
    tracer,
    equivalents,
    configurations,
    converter,
    conditionCounts: new ConditionCounts(),
    labelsOf: (namespace) => readLabels(namespace, needs),
    namespaceOf: (attributes) => readNamespace(attributes, needs),
    close() {
      configurations.close()
      caller.close()
      converter.close()
    },
  }
}

/** One request in the phase of a plugin. */
export interface WebhookRequest {
  readonly attributes: Attributes
  readonly inquiry: Inquiry
  readonly isMutating: boolean
  /** The webhooks that may be called. */
  readonly webhooks: readonly Webhook[]
  /** The request in its original version. */
  readonly own: RequestVersion
  readonly deadline: Deadline
  /** The accesses that conditions check. */
  readonly accesses: AskedAccesses
  /** The counts of conditions. */
  readonly counts: MetricCount[]
  /** Conditions may be many, and each may take long. */
  readonly pause: Pause
}

/** A plugin that calls webhooks about requests, after their configurations have been read. */
export function createWebhookPlugin(
  needs: PluginNeeds,
  description: WebhookPluginDescription,
  dispatch: (request: WebhookRequest, parts: WebhookParts) => Promise<Verdict>,
): Plugin {
  const parts = createWebhookParts(needs, description)
  const { configurations } = parts
  const areReviewsPassedOver = needs.catalogue.isGateOn(reviewsGate)
  const ask = async (attributes: Attributes, inquiry: Inquiry, isAboutItself: boolean): Promise<Verdict> => {
    const deadline = deadlineOf(inquiry, parts)
    const notKnown = await known(parts, attributes, deadline)
    if (notKnown !== undefined) return denied(notKnown)
    const request: WebhookRequest = {
      attributes,
      inquiry,
      isMutating: description.phase === 'mutate',
      webhooks: isAboutItself ? configurations.ofManifests : configurations.webhooks,
      own: parts.equivalents.own(attributes),
      deadline,
      accesses: new AskedAccesses(inquiry),
      counts: [],
      pause: pauses(),
    }
    const question = await questionOfConditions(request, parts)
    if (question !== undefined) return question
    const verdict = await dispatch(request, parts)
    return request.counts.length === 0 ? verdict : { ...verdict, counts: [...request.counts, ...(verdict.counts ?? [])] }
  }
  return {
    get admissionRules() {
      return configurations.admissionRules
    },
    followed: configurations,
    [description.phase](attributes: Attributes, inquiry: Inquiry) {
      if (areReviewsPassedOver && isReview(attributes, parts.names)) return allowed
      const isAboutItself = isAboutAdmission(attributes, parts.names)
      return isAboutItself && configurations.ofManifests.length === 0 ? allowed : ask(attributes, inquiry, isAboutItself)
    },
    close: () => parts.close(),
  }
}

/** The accesses that the conditions of all webhooks check: they must be known before the first call. */
async function questionOfConditions(request: WebhookRequest, parts: WebhookParts): Promise<Verdict | undefined> {
  const current = { object: request.attributes.object, asVersion: request.own }
  for (const webhook of request.webhooks) {
    if (webhook.conditions.length > 0) await chooseQuestion(webhook, { ...request, counts: [] }, current, parts)
  }
  return request.accesses.question
}

/** The decision for one webhook in a request. */
type Chosen =
  | { readonly kind: 'asked'; readonly question: WebhookQuestion }
  | { readonly kind: 'passed over' }
  | { readonly kind: 'undecided'; readonly error: StatusError }

/** The authorization check for a webhook, with the object in the version of `current`. */
export async function chooseQuestion(
  webhook: Webhook,
  request: WebhookRequest,
  current: { readonly object: unknown; readonly asVersion: RequestVersion },
  parts: WebhookParts,
): Promise<Chosen> {
  const { attributes, inquiry, isMutating, own, deadline } = request
  const match = await matchWebhook(webhook, { ...attributes, object: current.object }, parts)
  if (match.kind !== 'called') return match
  const { asVersion } = match
  const context = { timeoutMs: deadline.remainingMs(), traceparent: inquiry.context.traceparent }
  const converted = await unlessUnconverted(async () => ({
    object: await parts.converter.convert(current.object, current.asVersion, asVersion, context),
    oldObject: await parts.converter.convert(attributes.oldObject, own, asVersion, context),
  }))
  if (converted instanceof StatusError) return { kind: 'undecided', error: converted }
  const { object, oldObject } = converted
  if (webhook.conditions.length > 0) {
    const unmet = await checkConditions(webhook, { attributes, own, asVersion, object, oldObject }, request, parts)
    if (unmet !== undefined) return unmet
  }
  const { traceparent } = inquiry.context
  return { kind: 'asked', question: { webhook, isMutating, attributes, asVersion, own, object, oldObject, deadline, traceparent } }
}

/** The result of a conversion, or the failure of a conversion webhook, which refuses the request with any failure policy. */
export async function unlessUnconverted<T>(conversion: () => Promise<T>): Promise<T | StatusError> {
  try {
    return await conversion()
  } catch (error) {
    if (error instanceof StatusError) return error
    throw error
  }
}

/** The reason why a webhook's conditions prevent its call; undefined if they are met. A false condition takes precedence over errors. */
async function checkConditions(
  webhook: Webhook,
  seen: SeenRequest,
  { accesses, counts, isMutating, pause }: WebhookRequest,
  { namespaceOf, clock, conditionCounts }: WebhookParts,
): Promise<Chosen | undefined> {
  const { attributes, object, oldObject } = seen
  const namespaceObject = await namespaceOf(attributes)
  const input = { object, oldObject, request: requestInputOf(seen), params: null, namespaceObject, authorize: accesses.authorize }
  const { outcome, report } = await runWithPauses(
    reportConditions(webhook.conditions, input, () => clock.monotonic()),
    pause,
  )
  const owner = { owner: webhook, name: webhook.name, kind: 'webhook', type: isMutating ? 'admit' : 'validate' } as const
  counts.push(...conditionCounts.of(report, owner, attributes.operation))
  if (outcome.kind === 'met') return undefined
  if (outcome.kind === 'unmet' || webhook.isIgnoredOnFailure) return { kind: 'passed over' }
  return { kind: 'undecided', error: forbid(attributes, outcome.message) }
}

/** The namespace of a namespaced object; null for all others, including Namespaces. */
export async function readNamespace(attributes: Attributes, { storage }: Pick<PluginNeeds, 'storage'>): Promise<unknown> {
  if (attributes.namespace === '' || isOfNamespace(attributes)) return null
  const key = objectKey('core/namespaces', undefined, attributes.namespace)
  const { entry } = await storage.get({ key, read: { kind: 'any' } })
  return entry === undefined ? null : parseBytes(entry.value)
}

/** Logs a failed call, or an invalid answer, once a minute for each webhook. */
export function noteFailure(question: WebhookQuestion, outcome: WebhookOutcome, { log, rareLines }: WebhookParts): void {
  if (outcome.kind !== 'failed' && outcome.kind !== 'impossible') return
  const { name, configuration } = question.webhook
  const why = outcome.kind === 'failed' ? outcome.message : outcome.error.message
  rareLines.note(`${configuration}/${name}`, (leftOut) => {
    const fields = { webhook: name, configuration, why, isIgnored: isPassedOver(question, outcome) }
    log.warn({ ...fields, ...(leftOut === 0 ? {} : { leftOut }) }, 'a webhook failed')
  })
}

/** Labels select webhooks, so they are read at the latest revision. */
export async function readLabels(namespace: string, { storage }: Pick<PluginNeeds, 'storage'>): Promise<NamespaceLabels> {
  try {
    const { entry } = await storage.get({ key: objectKey('core/namespaces', undefined, namespace), read: { kind: 'latest' } })
    if (entry === undefined) return { kind: 'unknown', error: notFound({ group: '', resource: 'namespaces' }, namespace) }
    const { metadata }: ApiObject = parseBytes(entry.value)
    return { kind: 'labels', labels: metadata.labels ?? {} }
  } catch (error) {
    if (error instanceof StatusError) return { kind: 'unknown', error }
    return { kind: 'unknown', error: serviceUnavailable('the labels of the namespace cannot be read', { cause: error }) }
  }
}

/** Waits until the webhooks are known, at most until the deadline of the request. */
async function known(
  { configurations, clock }: WebhookParts,
  attributes: Attributes,
  deadline: Deadline,
): Promise<StatusError | undefined> {
  const late = Promise.withResolvers<StatusError>()
  const refusal = () => late.resolve(forbid(attributes, 'not yet ready to handle request'))
  const timer = clock.after(deadline.remainingMs(), refusal)
  const loaded = configurations.ready.then(
    () => undefined,
    () => serviceUnavailable('admission is ending'),
  )
  try {
    return await Promise.race([loaded, late.promise])
  } finally {
    timer.cancel()
  }
}

/** Deadline of the gateway's wait for an answer. */
function deadlineOf({ context }: Inquiry, { clock }: Pick<WebhookParts, 'clock'>): Deadline {
  const endMs = clock.monotonic() + (context.timeoutMs ?? limits.requestMsDefault)
  return { remainingMs: () => Math.max(0, endMs - clock.monotonic()), signal: context.signal }
}

/** The answer after the deadline of the request. */
export function lateError(): StatusError {
  return timeout('request did not complete within the allotted timeout')
}

/** Timers fire up to a millisecond early; the rest is too short for any work. */
export function isOver({ remainingMs, signal }: Deadline): boolean {
  return remainingMs() < 1 || signal?.aborted === true
}
