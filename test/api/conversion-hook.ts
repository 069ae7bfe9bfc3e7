import { aWebhookServer, type Called, type Reply, type WebhookServer, withBody } from '../admission/webhook-server.ts'
import { type Api, aName, aNamespace, type Body, created } from './api.ts'

const definitionsAt = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

/** Definitions of widgets with a webhook that converts the versions: `spec.size` and `spec.hue` in v1 are `spec.box.size` and `spec.color` in v2. */
export interface ConvertedKind {
  readonly group: string
  readonly namespace: string
  /** The path of the collection in a version. */
  readonly at: (version: string) => string
  readonly definition: string
  readonly hook: WebhookServer
}

const text = { type: 'string' }
const conditions = { type: 'object', properties: { phase: text, replicas: { type: 'integer' } } }
const schemaOf = (properties: object) => ({
  openAPIV3Schema: {
    type: 'object',
    properties: { spec: { type: 'object', properties }, status: conditions },
  },
})

const v1 = {
  size: { type: 'integer', maximum: 100 },
  hue: text,
  replicas: { type: 'integer' },
  weight: { type: 'string', default: 'light' },
  wide: { type: 'integer', format: 'int64' },
}
const v2 = {
  box: { type: 'object', properties: { size: { type: 'integer', maximum: 100 } } },
  color: text,
  replicas: { type: 'integer' },
  weight: { type: 'string', default: 'heavy' },
  wide: { type: 'integer', format: 'int64' },
}

export const versionOf = (name: 'v1' | 'v2', storage: string, more: object = {}) => ({
  name,
  served: true,
  storage: storage === name,
  schema: schemaOf({ ...(name === 'v1' ? v1 : v2), ...more }),
  subresources: { status: {}, scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' } },
  additionalPrinterColumns: [{ name: 'Size', type: 'integer', jsonPath: name === 'v1' ? '.spec.size' : '.spec.box.size' }],
})

export interface ConvertedKindOptions {
  readonly reply?: Reply
  readonly reviewVersions?: readonly string[]
  readonly clientConfig?: (hook: WebhookServer) => object
  /** Default: a new group. */
  readonly hook?: WebhookServer
  /** Further properties of v2. */
  readonly more?: object
}

/** The `conversion` field of a definition that uses this webhook. */
export function conversionBy(clientConfig: object, reviewVersions: readonly string[] = ['v1']) {
  return { strategy: 'Webhook', webhook: { clientConfig, conversionReviewVersions: reviewVersions } }
}

/** A definition that stores v1 and also serves v2, and its webhook. */
export async function aConvertedKind(
  api: Api,
  { reply = converting, reviewVersions, clientConfig = urlOf, more, ...options }: ConvertedKindOptions = {},
): Promise<ConvertedKind> {
  const hook = options.hook ?? (await aWebhookServer(reply))
  const group = `${aName('g')}.example.com`
  const namespace = await aNamespace(api)
  await created(api, definitionsAt, {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `widgets.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget' },
      conversion: conversionBy(clientConfig(hook), reviewVersions),
      versions: [versionOf('v1', 'v1'), versionOf('v2', 'v1', more)],
    },
  })
  const at = (version: string) => `/apis/${group}/${version}/namespaces/${namespace}/widgets`
  return { group, namespace, at, definition: `${definitionsAt}/widgets.${group}`, hook }
}

export function urlOf({ url, caBundle }: WebhookServer): object {
  return { url, caBundle }
}

export function widget({ group }: Pick<ConvertedKind, 'group'>, version: string, name: string, spec: object): object {
  return { apiVersion: `${group}/${version}`, kind: 'Widget', metadata: { name }, spec }
}

type Spec = Readonly<Record<string, unknown>>

/** Converts the object to the other version. */
function converted(object: Body, apiVersion: string): Body {
  if (object.apiVersion === apiVersion) return object
  // While the server computes an apply, a part of the object may be empty.
  const spec = object['spec'] as Spec | null | undefined
  if (spec == null) return { ...object, apiVersion }
  return { ...object, apiVersion, spec: apiVersion.endsWith('/v2') ? toSecond(spec) : toFirst(spec) }
}

function toSecond({ size, hue, ...rest }: Spec): Spec {
  return { ...rest, ...(size === undefined ? {} : { box: { size } }), ...(hue === undefined ? {} : { color: hue }) }
}

function toFirst({ box, color, ...rest }: Spec): Spec {
  const { size } = (box ?? {}) as Spec
  return { ...rest, ...(size === undefined ? {} : { size }), ...(color === undefined ? {} : { hue: color }) }
}

/** Answers a conversion review with these objects. */
export function answeringObjects(make: (called: Called) => object): Reply {
  return withBody((called) => ({
    apiVersion: called.review.apiVersion,
    kind: 'ConversionReview',
    response: { uid: called.request.uid, result: { status: 'Success' }, ...make(called) },
  }))
}

export const convertedObjects = ({ request }: Called): Body[] =>
  request.objects.map((object: Body) => converted(object, request.desiredAPIVersion))

export const converting: Reply = answeringObjects((called) => ({ convertedObjects: convertedObjects(called) }))
