import type { Catalogue } from '../kind/resource.ts'
import { operationPrefix, type PathDescription } from './operations.ts'

/** The type of the answer of `/version`, which belongs to no API group. */
export const versionType = 'version.Info'

/** The discovery paths by the OpenAPI 3 document that contains them: `apis/apps` → `/apis/apps/`. */
export function describeDiscovery(catalogue: Catalogue, { hasIssuer }: { readonly hasIssuer: boolean }): Map<string, PathDescription> {
  const { names, groups } = catalogue
  const documents = new Map<string, PathDescription>()
  const add = (name: string, described: Omit<Described, 'protobuf'>) =>
    documents.set(name, describePath(`/${name}/`, { ...described, protobuf: names.protobufMediaType }))
  add('api', {
    operationId: 'getCoreAPIVersions',
    tag: 'core',
    description: 'The versions of the core group.',
    type: 'meta/v1.APIVersions',
  })
  add('apis', { operationId: 'getAPIVersions', tag: 'apis', description: 'The groups that are served.', type: 'meta/v1.APIGroupList' })
  if (catalogue.inGroupVersion('', 'v1').length > 0) addVersion('api/v1', '', 'v1')
  for (const { name, versions } of groups) {
    const prefix = operationPrefix(names, name, '')
    add(`apis/${name}`, {
      operationId: `get${prefix}APIGroup`,
      tag: uncapitalised(prefix),
      description: `The versions of ${name}.`,
      type: 'meta/v1.APIGroup',
    })
    for (const version of versions) addVersion(`apis/${name}/${version}`, name, version)
  }
  add('version', { operationId: 'getCodeVersion', tag: 'version', description: 'The version of the server.', type: versionType })
  if (hasIssuer) {
    const issuer = 'getServiceAccountIssuerOpenID'
    add('.well-known/openid-configuration', {
      operationId: `${issuer}Configuration`,
      tag: 'WellKnown',
      description: 'The issuer of tokens of service accounts.',
      type: '',
    })
    add('openid/v1/jwks', {
      operationId: `${issuer}Keyset`,
      tag: 'openid',
      description: 'The public keys for tokens of service accounts.',
      type: '',
      produces: 'application/jwk-set+json',
    })
  }
  return documents

  function addVersion(path: string, group: string, version: string): void {
    const prefix = operationPrefix(names, group, version)
    const tag = `${uncapitalised(operationPrefix(names, group, ''))}_${version}`
    add(path, { operationId: `get${prefix}APIResources`, tag, description: `The resources of ${path}.`, type: 'meta/v1.APIResourceList' })
  }
}

interface Described {
  readonly operationId: string
  readonly tag: string
  readonly description: string
  readonly type: string
  readonly protobuf: string
  /** Default: `application/json`. */
  readonly produces?: string
}

function describePath(
  path: string,
  { operationId, tag, description, type, protobuf, produces = 'application/json' }: Described,
): PathDescription {
  const objectTypes = ['application/json', 'application/yaml', protobuf]
  const mediaTypes = type.startsWith('meta/') ? objectTypes : [produces]
  const responses = { 200: type }
  const operation = {
    method: 'get',
    operationId,
    tag,
    description,
    parameters: [],
    responses,
    consumes: type === '' ? [] : mediaTypes,
    produces: mediaTypes,
  } as const
  return { path, parameters: [], operations: [operation] }
}

function uncapitalised(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1)
}
