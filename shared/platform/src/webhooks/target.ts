/** The address of a webhook. */
type WebhookPlace =
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'service'; readonly namespace: string; readonly name: string; readonly port: number; readonly path: string }

/** The target of webhook calls. */
export interface WebhookTarget {
  readonly place: WebhookPlace
  /** The authorities of the webhook's certificate, PEM. Default: the authorities of the system. */
  readonly authorities?: string
}

/** The `clientConfig` of a stored webhook. */
export interface WebhookClientConfig {
  readonly url?: string
  readonly service?: { readonly namespace?: string; readonly name?: string; readonly port?: number; readonly path?: string }
  readonly caBundle?: string
}

/** Parses a stored `clientConfig`, with its defaults. */
export function readTarget({ url = '', service, caBundle }: WebhookClientConfig = {}): WebhookTarget {
  const authorities = caBundle ? { authorities: Buffer.from(caBundle, 'base64').toString() } : {}
  if (service === undefined) return { place: { kind: 'url', url }, ...authorities }
  const { namespace = '', name = '', port = 443, path = '' } = service
  return { place: { kind: 'service', namespace, name, port, path: path === '' ? '/' : path }, ...authorities }
}
