import { type Attributes, objectKey } from '@orch/core/contracts'
import { type ApiObject, forbidden, notFound, StatusError, serviceUnavailable, timeout } from '@orch/core/meta'
import { domainGroup, type Names } from '@orch/core/names'
import { createServiceAddresses, createWebhookCaller, noCredentials } from '@orch/platform/webhooks'
import type { Inquiry, PluginNeeds } from '../plugin.ts'
import type { AskWebhookNeeds, Deadline } from './ask-webhook.ts'
import { type Configurations, followConfigurations } from './configurations.ts'
import { createEquivalents, type Equivalents } from './equivalents.ts'
import { createForms, type Forms } from './forms.ts'
import { limits } from './limits.ts'
import type { MatchNeeds, NamespaceLabels } from './match.ts'

/** What both plugins of webhooks are made of. */
export interface WebhookParts extends AskWebhookNeeds, MatchNeeds {
  readonly equivalents: Equivalents
  readonly configurations: Configurations
  readonly forms: Forms
  close(): void
}

/** What the two plugins differ in. */
export interface WebhookPluginForm {
  readonly plugin: 'MutatingAdmissionWebhook' | 'ValidatingAdmissionWebhook'
  readonly plural: string
  readonly phase: 'mutate' | 'validate'
}

export function createWebhookParts(needs: PluginNeeds, { plugin, plural, phase }: WebhookPluginForm): WebhookParts {
  const { storage, catalogue, clock, log, random, tracer, settings } = needs
  const { names } = catalogue
  const equivalents = createEquivalents(catalogue)
  const configurations = followConfigurations({ storage, catalogue, clock, log, random, equivalents, plural, phase })
  const addresses = createServiceAddresses({ storage, names, clock, random, known: settings.webhookServices })
  const credentials = settings.webhookCredentials.get(plugin) ?? noCredentials
  const caller = createWebhookCaller({ addresses, credentials, clock, userAgent: `${names.serverManager}-admission` })
  return {
    caller,
    names,
    clock,
    log,
    tracer,
    equivalents,
    configurations,
    forms: createForms(catalogue),
    labelsOf: (namespace) => readLabels(namespace, needs),
    close() {
      configurations.close()
      caller.close()
    },
  }
}

const decoder = new TextDecoder()

/** Labels decide whether a webhook is called, so they are read at the latest revision. */
async function readLabels(namespace: string, { storage }: PluginNeeds): Promise<NamespaceLabels> {
  try {
    const { entry } = await storage.get({ key: objectKey('core/namespaces', undefined, namespace), read: { kind: 'latest' } })
    if (entry === undefined) return { kind: 'unknown', error: notFound({ group: '', resource: 'namespaces' }, namespace) }
    const { metadata }: ApiObject = JSON.parse(decoder.decode(entry.value))
    return { kind: 'labels', labels: metadata.labels ?? {} }
  } catch (error) {
    if (error instanceof StatusError) return { kind: 'unknown', error }
    return { kind: 'unknown', error: serviceUnavailable('the labels of the namespace cannot be read', { cause: error }) }
  }
}

/** Webhooks never decide about webhook configurations: otherwise a faulty one could not be deleted. */
export function isAboutWebhooks({ group, resource }: Attributes, names: Names): boolean {
  return (
    group === domainGroup(names, 'admissionregistration') &&
    (resource === 'mutatingwebhookconfigurations' || resource === 'validatingwebhookconfigurations')
  )
}

/** Waits until it is known which webhooks there are; a request does not wait for longer than it has time. */
export async function known(
  { configurations, clock }: WebhookParts,
  attributes: Attributes,
  deadline: Deadline,
): Promise<StatusError | undefined> {
  const late = Promise.withResolvers<StatusError>()
  const { group, resource, name } = attributes
  const refusal = () => late.resolve(forbidden({ group, resource }, name, 'not yet ready to handle request'))
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

/** Until when the gateway waits for an answer. */
export function deadlineOf({ context }: Inquiry, { clock }: Pick<WebhookParts, 'clock'>): Deadline {
  const endMs = clock.monotonic() + (context.timeoutMs ?? limits.requestMsDefault)
  return { remainingMs: () => Math.max(0, endMs - clock.monotonic()), signal: context.signal }
}

/** The answer when the request's own time is over. */
export function lateError(): StatusError {
  return timeout('request did not complete within requested timeout')
}

/** Timers go off up to a millisecond early: what is left then is no time for anything. */
export function isOver({ remainingMs, signal }: Deadline): boolean {
  return remainingMs() < 1 || signal?.aborted === true
}
