import { existsAt } from '../description/levels.ts'
import type { Catalogue, Group, Gvk, Resource, Subresource } from '../kind/resource.ts'
import type { Names } from '../names.ts'
import { resolveStruct } from '../schema/resolve.ts'

/** A path with its operations, independent of the OpenAPI version. */
export interface PathDescription {
  readonly path: string
  readonly parameters: readonly Parameter[]
  readonly operations: readonly OperationDescription[]
}

export interface OperationDescription {
  readonly method: 'get' | 'put' | 'post' | 'delete' | 'patch' | 'head' | 'options'
  readonly operationId: string
  readonly description: string
  /** The action on objects, and their kind; undefined without a kind. */
  readonly action?: 'get' | 'list' | 'post' | 'put' | 'patch' | 'delete' | 'deletecollection' | 'connect' | 'watch' | 'watchlist'
  readonly gvk?: Gvk
  readonly tag: string
  readonly parameters: readonly Parameter[]
  readonly body?: Body
  /** Status code → type of the answer; '' for plain text. */
  readonly responses: Readonly<Record<string, string>>
  readonly consumes: readonly string[]
  readonly produces: readonly string[]
}

type Body = { readonly kind: 'type'; readonly type: string; readonly isRequired: boolean } | { readonly kind: 'patch' }

export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query'
  readonly type: 'string' | 'integer' | 'boolean'
  readonly description: string
  readonly isRequired?: boolean
  /** The name under which operations share the parameter; a document of OpenAPI 2 contains it once. */
  readonly sharedAs?: string
  /** The first level that has it, by minor version. */
  readonly since?: number
}

const ownQuery = (name: string, type: Parameter['type'], description: string): Parameter => ({ name, in: 'query', type, description })
const query = (name: string, type: Parameter['type'], description: string, sharedAs = name): Parameter => ({
  ...ownQuery(name, type, description),
  sharedAs,
})

const pretty = query('pretty', 'string', "If 'true', the answer is indented.")
const namespaceParameter: Parameter = {
  name: 'namespace',
  in: 'path',
  type: 'string',
  description: 'Namespace of the object.',
  isRequired: true,
  sharedAs: 'namespace',
}

const paging: readonly Parameter[] = [
  query('continue', 'string', 'Token from the answer before, to get the next part of a list.'),
  query('fieldSelector', 'string', 'Only objects whose fields match, for example metadata.name=a.'),
  query('labelSelector', 'string', 'Only objects whose labels match, for example app=web,tier in (a,b).'),
  query('limit', 'integer', 'Most objects in one answer; the rest is reached by continue.'),
  query('resourceVersion', 'string', 'How old the answer may be: unset for the newest, 0 for any, else a version seen before.'),
  query('resourceVersionMatch', 'string', 'How resourceVersion is meant: Exact or NotOlderThan.'),
  { ...query('sendInitialEvents', 'boolean', 'A watch begins with the present objects, and a bookmark after them.'), since: 27 },
  { ...query('shardSelector', 'string', 'Only objects of a shard, for example shardRange(object.metadata.uid, 0x0, 0x8).'), since: 36 },
  query('timeoutSeconds', 'integer', 'The call ends after this time, whatever happens.'),
]
const listing: readonly Parameter[] = [
  query('allowWatchBookmarks', 'boolean', 'A watch may send events of type BOOKMARK.'),
  ...paging,
  query('watch', 'boolean', 'Answer with a stream of changes instead of a list.'),
]
const writing: readonly Parameter[] = [
  query('dryRun', 'string', 'With All, everything is checked and nothing is stored.'),
  query('fieldManager', 'string', 'Name under which the changed fields are owned.'),
  query('fieldValidation', 'string', 'What becomes of unknown or repeated fields: Ignore, Warn or Strict.'),
]
const patching: readonly Parameter[] = [...writing, ownQuery('force', 'boolean', 'Apply takes fields that others own.')]
const deleting: readonly Parameter[] = [
  query('dryRun', 'string', 'With All, everything is checked and nothing is deleted.', 'dryRunOfDelete'),
  query('gracePeriodSeconds', 'integer', 'Seconds until the object is gone; 0 for at once.'),
  {
    ...query('ignoreStoreReadErrorWithClusterBreakingPotential', 'boolean', 'Deletes an object that cannot be read, and no other one.'),
    since: 32,
  },
  query('orphanDependents', 'boolean', 'Deprecated form of propagationPolicy.'),
  query('propagationPolicy', 'string', 'What becomes of dependants: Orphan, Background or Foreground.'),
]

/** Parameters that many operations share, of all levels. */
export const sharedParameters: readonly Parameter[] = [pretty, namespaceParameter, ...listing, ...writing, ...deleting]

const deletingMany = [...paging, ...deleting].sort((left, right) => (left.name < right.name ? -1 : 1))

function parametersAt(level: number) {
  const ofLevel = (parameters: readonly Parameter[]) => parameters.filter((parameter) => existsAt(parameter, level))
  return { listing: ofLevel(listing), deleting: ofLevel(deleting), deletingMany: ofLevel(deletingMany) }
}

const strategicMergeType = 'application/strategic-merge-patch+json'

/** The paths of one group version. */
export function describePaths(
  { names, level, inGroupVersion }: Pick<Catalogue, 'names' | 'level' | 'inGroupVersion'>,
  group: Group['name'],
  version: string,
): PathDescription[] {
  const base = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
  const prefix = operationPrefix(names, group, version)
  const tag = `${prefix.charAt(0).toLowerCase()}${prefix.slice(1)}`.replace(/V(\d.*)$/, '_v$1')
  const builtIn = { base, prefix, tag, types: builtInTypes(names), parameters: parametersAt(level) }
  const custom = { ...builtIn, types: customTypes }
  const all = inGroupVersion(group, version).flatMap((resource) => {
    const writer: Writer = resource.readers.mergeSchema === undefined ? custom : builtIn
    return [...describeResource(resource, writer), ...describeWatches(resource, writer)]
  })
  return all.map(withCommonParameters).sort((left, right) => (left.path < right.path ? -1 : 1))
}

/** As in kube-apiserver, parameters of all operations belong to the path. */
function withCommonParameters({ path: text, parameters, operations }: PathDescription): PathDescription {
  const [first, ...others] = operations
  const common = (first?.parameters ?? []).filter((parameter) => others.every((other) => other.parameters.includes(parameter)))
  return {
    path: text,
    parameters: [...parameters, ...common].sort((left, right) => (left.name < right.name ? -1 : 1)),
    operations: operations.map((one) => ({ ...one, parameters: one.parameters.filter((parameter) => !common.includes(parameter)) })),
  }
}

/** Media types of the operations on a kind. */
interface Types {
  readonly objects: readonly string[]
  readonly lists: readonly string[]
  /** The media types of patches. */
  readonly patches: readonly string[]
}

function builtInTypes({ protobufMediaType }: Names): Types {
  const objects = [...customTypes.objects, protobufMediaType]
  return {
    objects,
    lists: [...objects, watchType, `${protobufMediaType};stream=watch`],
    patches: ['application/json-patch+json', 'application/merge-patch+json', strategicMergeType, 'application/apply-patch+yaml'],
  }
}

const watchType = 'application/json;stream=watch'

/** Custom kinds have no merge keys for lists, and no Protobuf form. */
const customTypes: Types = {
  objects: ['application/json', 'application/yaml'],
  lists: ['application/json', 'application/yaml', watchType],
  patches: ['application/json-patch+json', 'application/merge-patch+json', 'application/apply-patch+yaml'],
}

interface Writer {
  readonly types: Types
  readonly parameters: ReturnType<typeof parametersAt>
  readonly base: string
  /** `CoreV1`, `RbacAuthorizationV1`. */
  readonly prefix: string
  /** `core_v1`, `rbacAuthorization_v1`. */
  readonly tag: string
}

/** `CoreV1`, `RbacAuthorizationV1`: the prefix of a group version's operations. */
export function operationPrefix(names: Names, group: string, version: string): string {
  const words = group === '' ? ['core'] : group.replace(`.${names.apiDomain}`, '').split('.')
  return [...words, version].map(capitalised).join('')
}

const capitalised = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)

function describeResource(resource: Resource, writer: Writer): PathDescription[] {
  const scope = resource.isNamespaced ? `${writer.base}/namespaces/{namespace}` : writer.base
  const collection = `${scope}/${resource.plural}`
  const item = `${collection}/{name}`
  const paths = [
    path(collection, resource, collectionOperations(resource, writer), false),
    path(item, resource, itemOperations(resource, writer), true),
    ...resource.subresources.flatMap((subresource) => describeSubresource(item, resource, subresource, writer)),
  ]
  if (resource.isNamespaced && resource.verbs.includes('list')) {
    const list = listOperation(resource, writer, `list${writer.prefix}${resource.kind}ForAllNamespaces`)
    paths.push(acrossNamespaces(`${writer.base}/${resource.plural}`, list))
  }
  return paths.filter(({ operations }) => operations.length > 0)
}

/** The deprecated watch paths; a list with `watch` replaces them. */
function describeWatches(resource: Resource, writer: Writer): PathDescription[] {
  if (!resource.verbs.includes('watch')) return []
  const { isNamespaced, kind, plural } = resource
  const base = `${writer.base}/watch`
  const collection = isNamespaced ? `${base}/namespaces/{namespace}/${plural}` : `${base}/${plural}`
  const watch = (action: 'watch' | 'watchlist', id: string): OperationDescription => ({
    ...listOperation(resource, writer, `watch${writer.prefix}${id}`),
    action,
    description: `Watch objects of kind ${kind}. Deprecated: use the parameter watch of a list.`,
    responses: { 200: 'meta/v1.WatchEvent' },
  })
  return [
    path(collection, resource, [watch('watchlist', `${scoped(resource)}List`)], false),
    path(`${collection}/{name}`, resource, [watch('watch', scoped(resource))], true),
    ...(isNamespaced ? [acrossNamespaces(`${base}/${plural}`, watch('watchlist', `${kind}ListForAllNamespaces`))] : []),
  ]
}

function acrossNamespaces(text: string, operation: OperationDescription): PathDescription {
  return { path: text, parameters: [pretty], operations: [operation] }
}

function path(
  text: string,
  { kind, isNamespaced }: Resource,
  operations: readonly OperationDescription[],
  hasName: boolean,
): PathDescription {
  const name: Parameter = { name: 'name', in: 'path', type: 'string', description: `Name of the ${kind}.`, isRequired: true }
  return { path: text, parameters: [...(hasName ? [name] : []), ...(isNamespaced ? [namespaceParameter] : []), pretty], operations }
}

const scoped = ({ isNamespaced, kind }: Resource): string => `${isNamespaced ? 'Namespaced' : ''}${kind}`

const anyType = ['*/*']

function operation(
  resource: Resource | (Gvk & { readonly plural: string }),
  { types, tag }: Writer,
  given: Omit<OperationDescription, 'gvk' | 'tag' | 'consumes' | 'produces'> & Partial<Pick<OperationDescription, 'consumes' | 'produces'>>,
): OperationDescription {
  const { group, version, kind } = resource
  return { gvk: { group, version, kind }, tag, consumes: anyType, produces: types.objects, ...given }
}

function collectionOperations(resource: Resource, writer: Writer): OperationDescription[] {
  const { kind, type, verbs } = resource
  const operations: OperationDescription[] = []
  if (verbs.includes('list')) operations.push(listOperation(resource, writer, `list${writer.prefix}${scoped(resource)}`))
  if (verbs.includes('create')) {
    operations.push(
      operation(resource, writer, {
        method: 'post',
        action: 'post',
        operationId: `create${writer.prefix}${scoped(resource)}`,
        description: `Create a ${kind}.`,
        parameters: writing,
        body: { kind: 'type', type, isRequired: true },
        responses: { 200: type, 201: type, 202: type },
      }),
    )
  }
  if (verbs.includes('deletecollection')) {
    operations.push(
      operation(resource, writer, {
        method: 'delete',
        action: 'deletecollection',
        operationId: `delete${writer.prefix}Collection${scoped(resource)}`,
        description: `Delete all matching objects of kind ${kind}.`,
        parameters: writer.parameters.deletingMany,
        body: { kind: 'type', type: 'meta/v1.DeleteOptions', isRequired: false },
        responses: { 200: 'meta/v1.Status' },
      }),
    )
  }
  return operations
}

function listOperation(resource: Resource, writer: Writer, operationId: string): OperationDescription {
  return operation(resource, writer, {
    method: 'get',
    action: 'list',
    operationId,
    description: `List or watch objects of kind ${resource.kind}.`,
    parameters: writer.parameters.listing,
    responses: { 200: `${resource.type}List` },
    produces: writer.types.lists,
  })
}

function itemOperations(resource: Resource, writer: Writer): OperationDescription[] {
  const { kind, type, verbs, deleteAnswer } = resource
  const id = (verb: string): string => `${verb}${writer.prefix}${scoped(resource)}`
  const operations = objectOperations(resource, { type, verbs, what: kind, id }, writer)
  if (verbs.includes('delete')) {
    const answer = deleteAnswer === 'object' ? type : 'meta/v1.Status'
    operations.push(
      operation(resource, writer, {
        method: 'delete',
        action: 'delete',
        operationId: id('delete'),
        description: `Delete a ${kind}.`,
        parameters: writer.parameters.deleting,
        body: { kind: 'type', type: 'meta/v1.DeleteOptions', isRequired: false },
        responses: { 200: answer, 202: answer },
      }),
    )
  }
  return operations
}

/** An object, or a subresource of it. */
interface Aspect {
  readonly type: string
  readonly verbs: readonly string[]
  /** The name in descriptions. */
  readonly what: string
  /** Returns the operation id for a verb. */
  readonly id: (verb: string) => string
}

/** Operations to read, replace and patch an object or a subresource. */
function objectOperations(
  of: Gvk & { readonly plural: string },
  { type, verbs, what, id }: Aspect,
  writer: Writer,
): OperationDescription[] {
  const operations: OperationDescription[] = []
  if (verbs.includes('get')) {
    const texts = { operationId: id('read'), description: `Read the ${what}.` }
    operations.push(operation(of, writer, { method: 'get', action: 'get', ...texts, parameters: [], responses: { 200: type } }))
  }
  const written = { 200: type, 201: type }
  if (verbs.includes('update')) {
    const texts = { operationId: id('replace'), description: `Replace the ${what}.` }
    const body: Body = { kind: 'type', type, isRequired: true }
    operations.push(operation(of, writer, { method: 'put', action: 'put', ...texts, parameters: writing, body, responses: written }))
  }
  if (verbs.includes('patch')) {
    const texts = { operationId: id('patch'), description: `Change parts of the ${what}, or apply them.` }
    const shape = { parameters: patching, body: { kind: 'patch' } as const, responses: written, consumes: writer.types.patches }
    operations.push(operation(of, writer, { method: 'patch', action: 'patch', ...texts, ...shape }))
  }
  return operations
}

function describeSubresource(item: string, resource: Resource, subresource: Subresource, writer: Writer): PathDescription[] {
  const at = `${item}/${subresource.name}`
  if (subresource.connect !== undefined) return describeConnect(at, resource, subresource, writer)
  const suffix = `${scoped(resource)}${capitalised(subresource.name)}`
  const of = { group: subresource.group, version: subresource.version, kind: subresource.kind, plural: resource.plural }
  const what = `${subresource.name} of the ${resource.kind}`
  if (subresource.produces !== undefined) {
    const read = operation(of, writer, {
      method: 'get',
      action: 'get',
      operationId: `read${writer.prefix}${suffix}`,
      description: `Read the ${what}.`,
      parameters: optionParameters(subresource.optionsType),
      responses: { 200: '' },
      produces: [subresource.produces, ...writer.types.objects],
    })
    return [path(at, resource, [read], true)]
  }
  const { type, verbs } = subresource
  const operations = objectOperations(of, { type, verbs, what, id: (verb) => `${verb}${writer.prefix}${suffix}` }, writer)
  if (subresource.verbs.includes('create')) {
    operations.push(
      operation(of, writer, {
        method: 'post',
        action: 'post',
        operationId: `create${writer.prefix}${suffix}`,
        description: `Create the ${what}.`,
        parameters: writing,
        body: { kind: 'type', type: subresource.type, isRequired: true },
        responses: { 200: subresource.type, 201: subresource.type, 202: subresource.type },
      }),
    )
  }
  return [path(at, resource, operations, true)]
}

function describeConnect(at: string, resource: Resource, subresource: Subresource, writer: Writer): PathDescription[] {
  const options = optionParameters(subresource.optionsType)
  const operations = (suffix: string, parameters: readonly Parameter[]): OperationDescription[] =>
    (subresource.connect ?? []).map((method) =>
      operation({ ...subresource, plural: resource.plural }, writer, {
        method: method.toLowerCase() as OperationDescription['method'],
        action: 'connect',
        operationId: `connect${writer.prefix}${capitalised(method.toLowerCase())}${scoped(resource)}${capitalised(subresource.name)}${suffix}`,
        description: `Connect a ${method} request to the ${subresource.name} of the ${resource.kind}.`,
        parameters,
        responses: { 200: '' },
        produces: ['*/*'],
      }),
    )
  const plain = unindented(path(at, resource, operations('', options), true))
  if (!subresource.hasSubpath) return [plain]
  const rest: Parameter = { name: 'path', in: 'path', type: 'string', description: 'Path after the target.', isRequired: true }
  const below = unindented(path(`${at}/{path}`, resource, operations('WithPath', options), true))
  return [plain, { ...below, parameters: [...below.parameters, rest] }]
}

/** The answer of a connection is not the server's, so that nothing indents it. */
function unindented(described: PathDescription): PathDescription {
  return { ...described, parameters: described.parameters.filter((parameter) => parameter !== pretty) }
}

/** The options of a connection or a log as query parameters. As in kube-apiserver, times have none. */
function optionParameters(type: string | undefined): Parameter[] {
  if (type === undefined) return []
  const fields = resolveStruct(type).fields.filter(({ name, node }) => name !== 'kind' && name !== 'apiVersion' && node.kind !== 'time')
  return fields.map(({ name, node, doc }) => {
    const { kind: one } = node.kind === 'list' ? node.items : node
    const kind = one === 'boolean' ? 'boolean' : one === 'int32' || one === 'int64' ? 'integer' : 'string'
    return ownQuery(name, kind, doc ?? `Option ${name}.`)
  })
}
