import type { Catalogue } from '../kind/resource.ts'
import type { Steps } from '../steps.ts'
import { customTypesOf } from './custom-types.ts'
import { describeDiscovery } from './discovery.ts'
import { describePaths, type OperationDescription, type Parameter, type PathDescription } from './operations.ts'
import { createSchemaWriter, dialect3, patchType, type Schema, type SchemaWriter } from './schemas.ts'
import { pathsPerStep, servedGroupVersions } from './v2.ts'

/** An OpenAPI 3 document; its members are those of the specification. */
export interface OpenApi3 {
  readonly openapi: '3.0.0'
  readonly info: { readonly title: string; readonly version: string }
  readonly paths: Readonly<Record<string, Schema>>
  readonly components: Schema
}

/** Options for the set of documents: one per group version, and those of discovery. */
export interface OpenApi3Options {
  readonly hasIssuer: boolean
}

/** The names of the documents in the index and in paths: `api/v1`, `apis/apps`, `apis/apps/v1`, `version`. */
export function openApi3Names(catalogue: Catalogue, options: OpenApi3Options): string[] {
  return [...describeDiscovery(catalogue, options).keys()].sort()
}

/** An entry of the index. `url` is the document's path and query. */
export function openApi3Entry(name: string, url: string): string {
  return `${JSON.stringify(name)}:${JSON.stringify({ serverRelativeURL: url })}`
}

/** The selected documents. */
export interface OpenApi3Wanted extends OpenApi3Options {
  readonly name: string
  readonly serverVersion: string
}

/** Makes one of the documents, with pauses between paths and definitions. */
export function* openApi3DocumentInSteps(catalogue: Catalogue, { name, serverVersion, ...options }: OpenApi3Wanted): Steps<OpenApi3> {
  const { names, level } = catalogue
  const groupVersions = servedGroupVersions(catalogue)
  const one = groupVersions.find(({ group, version }) => name === (group === '' ? `api/${version}` : `apis/${group}/${version}`))
  // From 1.36 on, shared kinds in a document do not list the group versions of other documents.
  const apiVersions = level < 36 ? groupVersions : [{ group: '', version: 'v1' }, ...(one === undefined || one.group === '' ? [] : [one])]
  const writer = createSchemaWriter({ names, level, dialect: dialect3, apiVersions, custom: customTypesOf(catalogue) })
  const discovery = describeDiscovery(catalogue, options).get(name)
  const objects = one === undefined ? [] : describePaths(catalogue, one.group, one.version)
  const paths = [...(discovery === undefined ? [] : [discovery]), ...objects]
  const written: [path: string, item: Schema][] = []
  for (const [index, description] of paths.entries()) {
    if (index > 0 && index % pathsPerStep === 0) yield
    written.push([description.path, pathItem(description, writer)])
  }
  const schemas = yield* writer.definitions()
  return {
    openapi: '3.0.0',
    info: { title: names.openApiTitle, version: serverVersion },
    paths: Object.fromEntries(written),
    components: {
      ...(Object.keys(schemas).length === 0 ? {} : { schemas }),
      securitySchemes: {
        BearerToken: { type: 'apiKey', description: 'Bearer token authentication', name: 'authorization', in: 'header' },
      },
    },
  }
}

function pathItem({ parameters, operations }: PathDescription, writer: SchemaWriter): Schema {
  const written = operations.map((operation) => [operation.method, operationObject(operation, writer)] as const)
  return { ...Object.fromEntries(written), ...parametersOf(parameters) }
}

/** Go types omit an empty list, so re-encoding a document with one would change it. */
function parametersOf(parameters: readonly Parameter[]): Schema {
  return parameters.length === 0 ? {} : { parameters: parameters.map(parameterObject) }
}

function operationObject(operation: OperationDescription, writer: SchemaWriter): Schema {
  const { description, tag, operationId, parameters, responses, action, gvk } = operation
  const body = requestBody(operation, writer)
  return {
    tags: [tag],
    description,
    operationId,
    ...parametersOf(parameters),
    ...(body === undefined ? {} : { requestBody: body }),
    responses: {
      ...Object.fromEntries(Object.entries(responses).map(([code, type]) => [code, response(code, type, operation, writer)])),
      401: { description: 'Unauthorized' },
    },
    ...(action === undefined ? {} : { 'x-kubernetes-action': action, 'x-kubernetes-group-version-kind': gvk }),
  }
}

const words: Readonly<Record<string, string>> = { 200: 'OK', 201: 'Created', 202: 'Accepted' }

function response(code: string, type: string, { produces }: OperationDescription, writer: SchemaWriter): Schema {
  const schema = type === '' ? { type: 'string' } : writer.refTo(type)
  return { description: words[code] ?? code, content: Object.fromEntries(produces.map((mediaType) => [mediaType, { schema }])) }
}

function requestBody({ body, consumes }: OperationDescription, writer: SchemaWriter): Schema | undefined {
  if (body === undefined) return undefined
  const schema = writer.refTo(body.kind === 'patch' ? patchType : body.type)
  const isRequired = (body.kind === 'patch' || body.isRequired) && writer.level >= 29
  return { content: Object.fromEntries(consumes.map((mediaType) => [mediaType, { schema }])), ...(isRequired ? { required: true } : {}) }
}

function parameterObject({ name, in: place, type, description, isRequired }: Parameter): Schema {
  return { name, in: place, description, ...(isRequired ? { required: true } : {}), schema: { type, uniqueItems: true } }
}
