import { createCatalogue, type Resource, type Subresource } from '@orch/core/catalogue'
import type { Profile } from '@orch/core/names'
import { type DrawnBody, deleteBody, objectBody, patchBody } from './bodies.ts'
import { Chance } from './chance.ts'
import { someWord } from './values.ts'

/** A random request. */
export interface DrawnRequest {
  readonly method: string
  /** The path and the query. */
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer | undefined
}

/** Draws request `index` of a run. */
export type Draw = (seed: number, index: number) => DrawnRequest

/** The target of a request. */
interface Place {
  readonly path: string
  readonly resource: Resource
  readonly subresource: Subresource | undefined
  readonly namespace: string
  /** Empty: the request targets the collection. */
  readonly name: string
}

/** Kinds whose objects would call other servers or refuse later requests. The run sends only dry runs for them. */
const onlyDryRun = new Set(['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration'])
const otherPaths = [
  ...['/', '/api', '/apis', '/api/v1', '/apis/apps', '/apis/apps/v1', '/openapi/v2', '/openapi/v3', '/openapi/v3/api/v1', '/version'],
  ...['/healthz', '/livez', '/readyz', '/readyz/ping', '/readyz?exclude=ping', '/metrics', '/logs', '/debug/pprof', '/openid/v1/jwks'],
  ...[
    '/.well-known/openid-configuration',
    '/debug/requests/x',
    '/debug/api_priority_and_fairness/dump_requests',
    '/apis/nope.io/v1/things',
  ],
]
const oddSegments = [
  ...['..', '.', '', '%00', '%2F', '%zz', '%E0%A4', '%25', '~', 'x'.repeat(300), '__proto__', 'constructor', 'toString', 'watch', 'proxy'],
  ...[
    'namespaces',
    'api',
    'apis',
    'v1',
    'v9',
    'pods',
    'status',
    'scale',
    'log',
    'exec',
    'a',
    ':',
    ';',
    '@',
    '%20',
    '%C3%BC',
    'A',
    '\u00fc',
  ],
]

/** Draws requests for every resource of a profile. */
export function createDraw(profile: Profile): Draw {
  const { resources } = createCatalogue(profile, { isGateOn: () => true })
  return (seed, index) => {
    const chance = new Chance(seed, index)
    if (chance.oneIn(25)) return { method: someMethod(chance), target: oddTarget(chance), headers: someHeaders(chance), body: undefined }
    const place = somePlace(chance, resources)
    const { method, body } = methodAndBody(chance, profile, place)
    const headers = { ...(body === undefined ? {} : { 'content-type': body.contentType }), ...someHeaders(chance) }
    return { method, target: `${place.path}${queryOf(chance, method, place)}`, headers, body: body?.bytes }
  }
}

function someMethod(chance: Chance): string {
  return chance.pick(['GET', 'GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE', 'PROPFIND'])
}

function oddTarget(chance: Chance): string {
  const path = chance.oneIn(2) ? chance.pick(otherPaths) : `/${chance.several(9, () => chance.pick(oddSegments)).join('/')}`
  return `${encodeSpaces(path)}${chance.oneIn(2) ? '' : `${path.includes('?') ? '&' : '?'}${someParameters(chance, 4)}`}`
}

/** Encodes the characters that no HTTP client can send. */
function encodeSpaces(path: string): string {
  return path.replace(/[^\x21-\x7e]/g, (character) => encodeURIComponent(character))
}

function somePlace(chance: Chance, resources: readonly Resource[]): Place {
  const resource = chance.pick(resources)
  const subresource = resource.subresources.length > 0 && chance.oneIn(3) ? chance.pick(resource.subresources) : undefined
  const namespace = resource.isNamespaced ? chance.pick(['default', 'default', 'default', 'team', 'kube-system', 'orch-system']) : ''
  const name = subresource !== undefined || chance.oneIn(2) ? objectName(chance) : ''
  const root = resource.group === '' ? `/api/${resource.version}` : `/apis/${resource.apiVersion}`
  const segments = [
    root,
    ...(namespace === '' || (name === '' && chance.oneIn(6)) ? [] : ['namespaces', namespace]),
    resource.plural,
    ...(name === '' ? [] : [encodeURIComponent(name)]),
    ...(subresource === undefined
      ? []
      : [subresource.name, ...(subresource.hasSubpath ? chance.several(3, () => chance.pick(['x', '..', ''])) : [])]),
    ...(chance.oneIn(60) ? [chance.pick(oddSegments)] : []),
  ]
  return { path: encodeSpaces(segments.join('/')), resource, subresource, namespace, name }
}

function objectName(chance: Chance): string {
  return chance.oneIn(25) ? wellFormed(someWord(chance)) || 'a' : chance.pick(['a', 'a', 'b', 'c'])
}

function wellFormed(text: string): string {
  return text.toWellFormed()
}

function methodAndBody(chance: Chance, profile: Profile, place: Place): { method: string; body: DrawnBody | undefined } {
  const { resource, subresource, name, namespace } = place
  const described = subresource ?? resource
  if (chance.oneIn(40)) return { method: someMethod(chance), body: objectBody(chance, profile, described, name || 'a', namespace) }
  const kept = name || objectName(chance)
  const object = (method: string) => ({ method, body: objectBody(chance, profile, described, kept, namespace) })
  const isPosted = name === '' || ['binding', 'eviction', 'token'].includes(subresource?.name ?? '')
  switch (chance.below(10)) {
    case 0:
      return { method: 'GET', body: undefined }
    case 1:
    case 2:
      return { method: 'DELETE', body: chance.oneIn(3) ? undefined : deleteBody(chance, described.apiVersion) }
    case 3:
    case 4:
    case 5:
      return isPosted ? object('POST') : { method: 'PATCH', body: patchBody(chance, profile, described, kept) }
    default:
      return object(isPosted ? 'POST' : 'PUT')
  }
}

const parameters = [
  ...[
    'limit',
    'continue',
    'labelSelector',
    'fieldSelector',
    'resourceVersion',
    'resourceVersionMatch',
    'dryRun',
    'fieldValidation',
    'pretty',
  ],
  ...[
    'fieldManager',
    'timeoutSeconds',
    'propagationPolicy',
    'gracePeriodSeconds',
    'orphanDependents',
    'force',
    'watch',
    'timeout',
    'includeObject',
  ],
  ...['allowWatchBookmarks', 'sendInitialEvents', 'container', 'follow', 'command', 'path', '__proto__', 'x', ''],
]
const settings = [
  ...['', '0', '1', '-1', 'abc', 'All', 'Strict', 'Warn', 'Ignore', 'Exact', 'NotOlderThan', 'true', 'false', '1h', '99999999999999999999'],
  ...[
    'a=b',
    'a in (b,c)',
    '!a',
    'a notin (',
    'metadata.name=a',
    'status.phase!=Running',
    'spec.nodeName=a,metadata.namespace=default',
    'x=y',
  ],
  ...['Foreground', 'Orphan', 'Background', 'Object', 'None', 'eyJ2IjoibWV0YS5rOHMuaW8vdjEifQ', '1e400', '0x10', '9007199254740993', '+1'],
]
/** A requested time limit of zero would give a 504 that the client asked for. */
const timeouts = ['', '1h', 'abc', '-1s', '0', '1', '99999999999h', '30s']

function someParameters(chance: Chance, max: number): string {
  const parameter = () => {
    const name = chance.pick(parameters)
    const value = name === 'timeout' ? chance.pick(timeouts) : chance.oneIn(8) ? wellFormed(someWord(chance)) : chance.pick(settings)
    return `${name}=${chance.oneIn(40) ? '%zz' : encodeURIComponent(value)}`
  }
  return chance.several(max, parameter).join('&')
}

function queryOf(chance: Chance, method: string, { resource }: Place): string {
  const own = [
    ...(method === 'PATCH' && !chance.oneIn(8) ? ['fieldManager=m'] : []),
    ...(onlyDryRun.has(resource.kind) && method !== 'GET' ? ['dryRun=All'] : []),
    ...(chance.oneIn(4) ? [someParameters(chance, 4)] : []),
  ]
  const query = own.filter((part) => part !== '').join('&')
  return query === '' ? '' : `?${query}`
}

const accepts = [
  ...[
    'application/json',
    '*/*',
    'application/yaml',
    'application/vnd.kubernetes.protobuf',
    'application/vnd.orch.protobuf',
    'text/html',
    '',
  ],
  ...[
    'application/json;as=Table;v=v1;g=meta.orch.io,application/json',
    'application/json;as=Table;v=v1;g=meta.k8s.io,application/json',
    ';;;,,=',
  ],
  ...['application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io', 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.orch.io'],
  ...['application/json;stream=watch', 'application/json;as=Nope;v=v1;g=meta.k8s.io', 'application/*;q=0.1', 'a/b;c="d\\"e"'],
]
const otherHeaders: readonly (readonly [string, readonly string[]])[] = [
  ['authorization', ['Bearer x', 'Bearer ', 'Basic YTpi', 'bearer a.b.c', 'Bearer eyJhbGciOiJub25lIn0.e30.']],
  ['impersonate-user', ['jane', '', 'system:serviceaccount:default:x', 'ü', 'system:anonymous']],
  ['impersonate-group', ['devs', 'system:masters', '']],
  ['impersonate-extra-a%2fb', ['x', '']],
  ['impersonate-uid', ['1', '']],
  ['accept-encoding', ['gzip', 'br', 'gzip;q=0', 'identity;q=0,*;q=0', ',,,']],
  ['content-encoding', ['gzip', 'identity', 'x']],
  ['if-none-match', ['"x"', '*', 'W/"']],
  ['traceparent', ['00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', 'x', '']],
  ['audit-id', ['x', ' ', 'a'.repeat(500)]],
  ['x-forwarded-for', ['1.2.3.4', 'x, y', '::1']],
  ['orch-explain', ['1', '0']],
  ['kube-explain', ['1']],
  ['user-agent', ['kubectl/v1.25.0', '', 'a'.repeat(2_000), '\u00fc/\u00e4']],
  ['range', ['bytes=0-1']],
  ['x-remote-user', ['root']],
  ['cookie', ['a=b']],
]

function someHeaders(chance: Chance): Record<string, string> {
  const headers: Record<string, string> = { accept: chance.oneIn(6) ? chance.pick(accepts) : 'application/json' }
  if (!chance.oneIn(6)) return headers
  for (let more = 1 + chance.below(3); more > 0; more--) {
    const [name, values] = chance.pick(otherHeaders)
    headers[name] = chance.pick(values)
  }
  return headers
}
