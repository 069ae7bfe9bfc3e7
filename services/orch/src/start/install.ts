import { type Client, readManifests, setAsideText, withoutServerState } from '@orch/client'
import type { ApiObject } from '@orch/core/meta'
import type { Log } from '@orch/platform'
import { untilServed } from '../load/store-objects.ts'
import type { WebhookEndpoint } from './webhook-endpoint.ts'

const definitionKind = 'CustomResourceDefinition'
const webhookKinds = ['ValidatingWebhookConfiguration', 'MutatingWebhookConfiguration']

/** The endpoint that the installed files' webhooks call, and the log that names removed members. */
export interface InstallOptions {
  readonly endpoint: WebhookEndpoint | undefined
  readonly log: Log
}

/**
 * Applies the objects of files and folders: definitions and namespaces first, webhook configurations last. Resolves with the stored objects when
 * discovery lists every served version of each definition. If there is an endpoint, webhooks call it instead of their Services. Objects may contain
 * the metadata that a server adds.
 */
export async function install(client: Client, paths: readonly string[], { endpoint, log }: InstallOptions): Promise<ApiObject[]> {
  const objects = (await readManifests(paths)).map((manifest) => {
    const { object, setAside } = withoutServerState(manifest.object)
    if (setAside.length > 0) log.info({ file: manifest.file, line: manifest.line }, setAsideText(setAside))
    for (const { line, message } of manifest.repeats) log.warn({ file: manifest.file, line }, message)
    return endpoint === undefined ? object : redirected(object, endpoint)
  })
  const objectsOf = (turn: number) => objects.filter((object) => turnOf(object) === turn)
  const [first, middle, last] = [objectsOf(0), objectsOf(1), objectsOf(2)]
  const installed = []
  for (const object of first) installed.push(await apply(client, object))
  for (const definition of installed.filter(({ kind }) => kind === definitionKind)) await untilServed(client, definition)
  for (const object of [...middle, ...last]) installed.push(await apply(client, object))
  return installed
}

function turnOf({ kind }: ApiObject): number {
  if (kind === definitionKind || kind === 'Namespace') return 0
  return webhookKinds.includes(kind) ? 2 : 1
}

async function apply(client: Client, object: ApiObject): Promise<ApiObject> {
  const { apiVersion, kind, metadata } = object
  if (metadata.name === undefined) return client.objects.create(object)
  const { name, namespace } = metadata
  const reference = { apiVersion, kind, name, namespace: namespace ?? 'default' }
  return client.objects.patch(reference, object, { type: 'apply', force: true, fieldManager: 'install' })
}

interface ClientConfig {
  readonly service?: { readonly path?: string }
}

/** The object with its webhooks redirected to the endpoint, under their original path. */
function redirected(object: ApiObject, { host, port, certificateAuthority }: WebhookEndpoint): ApiObject {
  const caBundle = Buffer.from(certificateAuthority).toString('base64')
  const redirect = ({ service }: ClientConfig) => ({ url: `https://${host}:${port}${service?.path ?? '/'}`, caBundle })
  if (webhookKinds.includes(object.kind)) {
    const webhooks = (object['webhooks'] ?? []) as readonly { readonly clientConfig: ClientConfig }[]
    const changed = webhooks.map((webhook) =>
      webhook.clientConfig.service === undefined ? webhook : { ...webhook, clientConfig: redirect(webhook.clientConfig) },
    )
    return { ...object, webhooks: changed }
  }
  if (object.kind !== definitionKind) return object
  const spec = object['spec'] as {
    readonly conversion?: { readonly strategy: string; readonly webhook?: { readonly clientConfig?: ClientConfig } }
  }
  if (spec.conversion?.strategy !== 'Webhook') return object
  const webhook = {
    conversionReviewVersions: ['v1'],
    ...spec.conversion.webhook,
    clientConfig: redirect(spec.conversion.webhook?.clientConfig ?? {}),
  }
  return { ...object, spec: { ...spec, conversion: { ...spec.conversion, webhook } } }
}
