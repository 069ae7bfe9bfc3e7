import { onTestFinished } from 'vitest'
import { type Answer, type Api, aName, aNamespace } from '../api/api.ts'
import type { WebhookServer } from './webhook-server.ts'

export const configurationsAt = '/apis/admissionregistration.orch.io/v1'

export type Phase = 'mutating' | 'validating'

/** The fields of a webhook that a test sets; the others have defaults. */
export type HookFields = Readonly<Record<string, unknown>>

export const configMapRule = { operations: ['CREATE', 'UPDATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }

/** A webhook for the ConfigMaps of one namespace. */
export function aHook(server: Pick<WebhookServer, 'url' | 'caBundle'>, namespace: string | undefined, fields: HookFields = {}): HookFields {
  return {
    name: `${aName('hook')}.example.com`,
    clientConfig: { url: server.url, caBundle: server.caBundle },
    rules: [configMapRule],
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    ...(namespace === undefined ? {} : { namespaceSelector: { matchLabels: { 'orch.io/metadata.name': namespace } } }),
    ...fields,
  }
}

/** Creates a configuration that the test removes; returns its name. */
export async function aConfiguration(api: Api, phase: Phase, webhooks: readonly HookFields[], name = aName('hooks')): Promise<string> {
  const answer = await tryConfiguration(api, phase, webhooks, name)
  if (answer.status !== 201) throw new Error(`the configuration was not created: ${answer.text}`)
  onTestFinished(async () => {
    await api.delete(pathOf(phase, name)).catch(() => undefined)
  })
  return name
}

export function tryConfiguration(api: Api, phase: Phase, webhooks: readonly HookFields[], name = aName('hooks')): Promise<Answer> {
  const kind = phase === 'mutating' ? 'MutatingWebhookConfiguration' : 'ValidatingWebhookConfiguration'
  return api.post(pathOf(phase, ''), { apiVersion: 'admissionregistration.orch.io/v1', kind, metadata: { name }, webhooks })
}

export function pathOf(phase: Phase, name: string): string {
  const collection = `${configurationsAt}/${phase}webhookconfigurations`
  return name === '' ? collection : `${collection}/${name}`
}

/** A namespace with one webhook for its ConfigMaps. */
export async function aHookedNamespace(api: Api, phase: Phase, server: WebhookServer, fields: HookFields = {}) {
  const namespace = await aNamespace(api)
  const hook = aHook(server, namespace, fields)
  const configuration = await aConfiguration(api, phase, [hook])
  return { namespace, configuration, hook: String(hook['name']), path: `/api/v1/namespaces/${namespace}/configmaps` }
}
