import type { Catalogue } from '../catalogue/catalogue.ts'
import { operationPrefix, type PathDescription } from './operations.ts'

/** What `/version` answers: no type of an API group. */
export const versionType = 'version.Info'

/** The paths at which the server says what it serves, by the OpenAPI 3 document that holds them: `apis/apps` → `/apis/apps/`. */
export function describeDiscovery(catalogue: Catalogue, { hasIssuer }: { readonly hasIssuer: boolean }): Map<string, PathDescription> {
  const { names, groups } = catalogue
  const documents = new Map<string, PathDescription>()
  const add = (name: string, operationId: string, tag: string, description: string, type: string) =>
    documents.set(name, describePath(`/${name}/`, { operationId, tag, description, type, protobuf: names.protobufMediaType }))
  add('api', 'getCoreAPIVersions', 'core', 'The versions of the core group.', 'meta/v1.APIVersions')
  add('apis', 'getAPIVersions', 'apis', 'The groups that are served.', 'meta/v1.APIGroupList')
  if (catalogue.inGroupVersion('', 'v1').length > 0) addVersion('api/v1', '', 'v1')
  for (const { name, versions } of groups) {
    const prefix = operationPrefix(names, name, '')
    add(`apis/${name}`, `get${prefix}APIGroup`, uncapitalised(prefix), `The versions of ${name}.`, 'meta/v1.APIGroup')
    for (const version of versions) addVersion(`apis/${name}/${version}`, name, version)
  }
  add('version', 'getCodeVersion', 'version', 'The version of the server.', versionType)
  if (hasIssuer) {
    const issuer = 'getServiceAccountIssuerOpenID'
    add('.well-known/openid-configuration', `${issuer}Configuration`, 'WellKnown', 'The issuer of tokens of service accounts.', '')
    add('openid/v1/jwks', `${issuer}Keyset`, 'openid', 'The public keys for tokens of service accounts.', '')
  }
  return documents

  function addVersion(path: string, group: string, version: string): void {
    const prefix = operationPrefix(names, group, version)
    const tag = `${uncapitalised(operationPrefix(names, group, ''))}_${version}`
    add(path, `get${prefix}APIResources`, tag, `The resources of ${path}.`, 'meta/v1.APIResourceList')
  }
}

interface Described {
  readonly operationId: string
  readonly tag: string
  readonly description: string
  readonly type: string
  readonly protobuf: string
}

function describePath(path: string, { operationId, tag, description, type, protobuf }: Described): PathDescription {
  const objectTypes = ['application/json', 'application/yaml', protobuf]
  const mediaTypes = type.startsWith('meta/') ? objectTypes : ['application/json']
  const responses = { 200: type }
  const operation = {
    method: 'get',
    operationId,
    tag,
    description,
    parameters: [],
    responses,
    consumes: mediaTypes,
    produces: mediaTypes,
  } as const
  return { path, parameters: [], operations: [operation] }
}

function uncapitalised(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1)
}
