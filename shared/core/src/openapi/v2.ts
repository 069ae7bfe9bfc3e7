import { memo } from '@orch/cel/memo'
import { existsAt } from '../description/levels.ts'
import type { Catalogue } from '../kind/resource.ts'
import type { Steps } from '../steps.ts'
import { customTypesOf } from './custom-types.ts'
import { describeDiscovery } from './discovery.ts'
import { describePaths, type OperationDescription, type Parameter, type PathDescription, sharedParameters } from './operations.ts'
import { createSchemaWriter, dialect2, patchType, type Schema, type SchemaWriter } from './schemas.ts'

/** An OpenAPI 2 document; its members are those of the specification. */
export interface OpenApi2 {
  readonly swagger: '2.0'
  readonly info: { readonly title: string; readonly version: string }
  readonly paths: Readonly<Record<string, Schema>>
  readonly definitions: Readonly<Record<string, Schema>>
  /** Parameters to which many operations refer, as in kube-apiserver from 1.28 on. */
  readonly parameters: Readonly<Record<string, Schema>>
  readonly securityDefinitions: Readonly<Record<string, Schema>>
  readonly security: readonly Schema[]
}

/** Parts to describe besides those of a catalogue. */
export interface OpenApi2Options {
  readonly hasIssuer: boolean
  /** A document that the result complements: its paths and definitions are omitted. */
  readonly beside?: Pick<OpenApi2, 'paths' | 'definitions'>
}

/**
 * The document of `/openapi/v2`, with everything that is served, with pauses between group versions, paths and definitions. `version` is the
 * server's version.
 */
export function* openApi2DocumentInSteps(catalogue: Catalogue, version: string, options: OpenApi2Options): Steps<OpenApi2> {
  const { paths, definitions } = yield* openApi2PartInSteps(catalogue, options)
  const ofLevel = sharedParameters.filter((parameter) => existsAt(parameter, catalogue.level))
  return {
    swagger: '2.0',
    info: { title: catalogue.names.openApiTitle, version },
    paths,
    definitions,
    parameters: Object.fromEntries(ofLevel.map((parameter) => [parameter.sharedAs, parameterObject(parameter)])),
    securityDefinitions: {
      BearerToken: { description: 'Bearer token authentication', type: 'apiKey', name: 'authorization', in: 'header' },
    },
    security: [{ BearerToken: [] }],
  }
}

/** The paths and definitions of a document. */
type OpenApi2Part = Pick<OpenApi2, 'paths' | 'definitions'>

/** The paths of a catalogue and the definitions of all referenced types, with pauses. */
export function* openApi2PartInSteps(catalogue: Catalogue, options: OpenApi2Options): Steps<OpenApi2Part> {
  const { names, level } = catalogue
  const { paths: knownPaths = {}, definitions: known = {} } = options.beside ?? {}
  const apiVersions = servedGroupVersions(catalogue)
  const writer = createSchemaWriter({ names, level, dialect: dialect2, apiVersions, custom: customTypesOf(catalogue), known })
  const written: [path: string, item: Schema][] = []
  const write = (description: PathDescription) => {
    if (!Object.hasOwn(knownPaths, description.path)) written.push([description.path, pathItem(description, writer)])
  }
  for (const description of describeDiscovery(catalogue, options).values()) write(description)
  for (const { group, version: one } of apiVersions) {
    yield
    const descriptions = describePaths(catalogue, group, one)
    for (const [index, description] of descriptions.entries()) {
      if (index > 0 && index % pathsPerStep === 0) yield
      write(description)
    }
  }
  writer.refTo('meta/v1.WatchEvent')
  yield
  const paths = Object.fromEntries(written.sort(([left], [right]) => (left < right ? -1 : 1)))
  return { paths, definitions: yield* writer.definitions() }
}

/** Number of paths of a group version per step. */
export const pathsPerStep = 64

/** Every group version with a resource, the core group first. */
export function servedGroupVersions(catalogue: Catalogue): { group: string; version: string }[] {
  const core = catalogue.inGroupVersion('', 'v1').length > 0 ? [{ group: '', version: 'v1' }] : []
  return [...core, ...catalogue.groups.flatMap(({ name, versions }) => versions.map((version) => ({ group: name, version })))]
}

function pathItem({ parameters, operations }: PathDescription, writer: SchemaWriter): Schema {
  const written = operations.map((operation) => [operation.method, operationObject(operation, writer)] as const)
  return { ...Object.fromEntries(written), parameters: parameters.map(parameterOrReference) }
}

function operationObject(operation: OperationDescription, writer: SchemaWriter): Schema {
  const { method, description, consumes, produces, tag, operationId, parameters, responses, action, gvk } = operation
  // kubectl before 1.28 detects server features from patches, and does not resolve references.
  const written = parameters.map((parameter) => (method === 'patch' ? parameterObject(parameter) : parameterOrReference(parameter)))
  const body = bodyParameter(operation, writer)
  return {
    description,
    ...(consumes.length === 0 ? {} : { consumes }),
    produces,
    schemes: ['https'],
    tags: [tag],
    operationId,
    parameters: [...(body === undefined ? [] : [body]), ...written],
    responses: {
      ...Object.fromEntries(Object.entries(responses).map(([code, type]) => [code, responseObject(code, type, writer)])),
      401: { description: 'Unauthorized' },
    },
    ...(action === undefined ? {} : { 'x-kubernetes-action': action, 'x-kubernetes-group-version-kind': gvk }),
  }
}

const words: Readonly<Record<string, string>> = { 200: 'OK', 201: 'Created', 202: 'Accepted' }

function responseObject(code: string, type: string, writer: SchemaWriter): Schema {
  return { description: words[code] ?? code, schema: type === '' ? { type: 'string' } : writer.refTo(type) }
}

function bodyParameter({ body }: OperationDescription, writer: SchemaWriter): Schema | undefined {
  if (body === undefined) return undefined
  if (body.kind === 'patch') return { name: 'body', in: 'body', required: true, schema: writer.refTo(patchType) }
  return { name: 'body', in: 'body', ...(body.isRequired ? { required: true } : {}), schema: writer.refTo(body.type) }
}

/** One shared reference per parameter. */
const references = new Map(sharedParameters.map((parameter) => [parameter, { $ref: `#/parameters/${parameter.sharedAs}` }]))

function parameterOrReference(parameter: Parameter): Schema {
  return references.get(parameter) ?? parameterObject(parameter)
}

/** Parameter objects are shared, since most operations have the same parameters. */
const parameterObject = memo(
  ({ name, in: place, type, description, isRequired }: Parameter): Schema => ({
    uniqueItems: true,
    type,
    description,
    name,
    in: place,
    ...(isRequired ? { required: true } : {}),
  }),
)
