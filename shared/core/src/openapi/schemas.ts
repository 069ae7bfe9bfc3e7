import { plainNameOf } from '../description/levels.ts'
import { type Field, isScalar, type Node, type ScalarNode, type StructNode, scalarZeros } from '../description/node.ts'
import type { OpenApiSchema } from '../kind/kind-readers.ts'
import type { Names } from '../names.ts'
import { groupVersionOf, openApiName, packageOf, resolveNode, resolveType, typeNameAt, typeOf } from '../schema/resolve.ts'
import type { Steps } from '../steps.ts'
import { versionType } from './discovery.ts'

/** A JSON schema in OpenAPI. */
export type Schema = Record<string, unknown>

/** The differences between the two versions of OpenAPI. */
export interface Dialect {
  readonly version: 2 | 3
  /** `#/definitions/` or `#/components/schemas/`. */
  readonly refPrefix: string
}

export const dialect2: Dialect = { version: 2, refPrefix: '#/definitions/' }
export const dialect3: Dialect = { version: 3, refPrefix: '#/components/schemas/' }

/** Types other than structs that have a definition, by kind of node. */
const special = {
  time: { path: 'apimachinery.pkg.apis.meta.v1.Time', schema: { type: 'string', format: 'date-time' } },
  microTime: { path: 'apimachinery.pkg.apis.meta.v1.MicroTime', schema: { type: 'string', format: 'date-time' } },
  quantity: { path: 'apimachinery.pkg.api.resource.Quantity', schema: { type: 'string' } },
  intOrString: { path: 'apimachinery.pkg.util.intstr.IntOrString', schema: { type: 'string', format: 'int-or-string' } },
  raw: { path: 'apimachinery.pkg.runtime.RawExtension', schema: { type: 'object' } },
  fieldsV1: { path: 'apimachinery.pkg.apis.meta.v1.FieldsV1', schema: { type: 'object' } },
  json: { path: 'apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON', schema: {} },
} as const

const descriptions: Readonly<Record<keyof typeof special, string>> = {
  time: 'A moment in RFC 3339 form, UTC, with whole seconds.',
  microTime: 'A moment in RFC 3339 form, UTC, with microseconds.',
  quantity: 'An amount with an optional suffix, such as 100m, 1.5, 2Gi or 1e3. It is kept in canonical form.',
  intOrString: 'Either an integer or a text, for example a percentage or the name of a port.',
  raw: 'An object of any kind, kept as it is.',
  fieldsV1: 'A set of fields as a tree: f:<name> for a field, k:<keys> for a list item by its keys, v:<value> for one by its value.',
  json: 'Any JSON value.',
}

/** The body of a patch. */
export const patchType = 'meta/v1.Patch'

const versionFields = ['major', 'minor', 'gitVersion', 'gitCommit', 'gitTreeState', 'buildDate', 'goVersion', 'compiler', 'platform']
const emulationFields = ['emulationMajor', 'emulationMinor', 'minCompatibilityMajor', 'minCompatibilityMinor']

function versionSchema({ level, dialect }: Context): Schema {
  const property: Schema = { ...(dialect.version === 3 ? { default: '' } : {}), type: 'string' }
  const optional = level >= 33 ? emulationFields : []
  return {
    description: 'Version of the server, and of the tools and sources of its build.',
    type: 'object',
    required: versionFields,
    properties: Object.fromEntries([
      ...versionFields.map((name) => [name, property]),
      ...optional.map((name) => [name, { type: 'string' }]),
    ]),
  }
}

/** Definitions that are written here instead of being derived from a type, by type. */
const fixed: ReadonlyMap<string, { readonly path: string; readonly schema: (context: Context) => Schema }> = new Map([
  [versionType, { path: 'apimachinery.pkg.version.Info', schema: versionSchema }],
  [
    patchType,
    {
      path: 'apimachinery.pkg.apis.meta.v1.Patch',
      schema: () => ({ description: "Changes, in the format given by the request's media type.", type: 'object' }),
    },
  ],
])

/** Kinds that bodies of every group version may have. */
const sharedKinds = new Set(['meta/v1.DeleteOptions', 'meta/v1.WatchEvent'])

/** Makes the definitions of types, and collects all referenced ones. */
export interface SchemaWriter {
  readonly level: number
  /** Returns a reference to a type, and adds its definition to `definitions`. */
  readonly refTo: (type: string) => Schema
  /** Everything that was referenced directly or indirectly, sorted by definition name. */
  readonly definitions: () => Steps<Record<string, Schema>>
}

/** Number of definitions per step. */
const definitionsPerStep = 32

/** The sources of definitions. */
export interface SchemaWriterOptions {
  readonly names: Names
  readonly dialect: Dialect
  /** The minor version of the release whose types are described. */
  readonly level: number
  /** The served group versions, which shared kinds list. */
  readonly apiVersions: readonly { group: string; version: string }[]
  /** Types without a description. */
  readonly custom: ReadonlyMap<string, OpenApiSchema>
  /** Definitions of another document together with everything that they refer to; they are not made again. */
  readonly known?: Readonly<Record<string, Schema>>
}

/** Creates a writer without definitions. */
export function createSchemaWriter({ names, dialect, level, apiVersions, custom, known = {} }: SchemaWriterOptions): SchemaWriter {
  const made = new Map<string, Schema>()
  const pending: string[] = []
  const wanted = new Set<string>()
  const refTo = (named: string): Schema => {
    const type = custom.has(named) || fixed.has(named) ? named : typeNameAt(named, level)
    if (!wanted.has(type)) pending.push(type)
    wanted.add(type)
    return { $ref: dialect.refPrefix + nameOf(type) }
  }
  const nameOf = (type: string): string => {
    const other = fixed.get(type)
    return other === undefined ? (custom.get(type)?.name ?? openApiName(names, type)) : `${names.openApiRoot}.${other.path}`
  }
  const context: Context = { names, dialect, level, apiVersions, refTo, refToSpecial: (kind) => refToSpecial(kind) }
  const refToSpecial = (kind: keyof typeof special): Schema => {
    const name = `${names.openApiRoot}.${special[kind].path}`
    if (!made.has(name) && !Object.hasOwn(known, name)) made.set(name, specialSchema(kind, dialect))
    return { $ref: dialect.refPrefix + name }
  }
  const definitions = function* (): Steps<Record<string, Schema>> {
    let count = 0
    for (let type = pending.pop(); type !== undefined; type = pending.pop()) {
      const own = custom.get(type)
      const name = nameOf(type)
      if (Object.hasOwn(known, name)) continue
      made.set(
        name,
        own === undefined ? (fixed.get(type)?.schema(context) ?? definitionOf(type, context)) : yield* own.schema(dialect.version, refTo),
      )
      count += 1
      if (count % definitionsPerStep === 0) yield
    }
    return Object.fromEntries([...made].sort(([left], [right]) => (left < right ? -1 : 1)))
  }
  return { level, refTo, definitions }
}

interface Context {
  readonly names: Names
  readonly dialect: Dialect
  readonly level: number
  readonly apiVersions: readonly { group: string; version: string }[]
  readonly refTo: (type: string) => Schema
  readonly refToSpecial: (kind: keyof typeof special) => Schema
}

function specialSchema(kind: keyof typeof special, { version }: Dialect): Schema {
  const description = descriptions[kind]
  if (version === 3 && kind === 'quantity') return { description, oneOf: [{ type: 'string' }, { type: 'number' }] }
  if (version === 3 && kind === 'intOrString')
    return { description, format: 'int-or-string', oneOf: [{ type: 'integer' }, { type: 'string' }] }
  return { description, ...special[kind].schema }
}

function definitionOf(type: string, context: Context): Schema {
  const node = resolveType(type)
  if (node.kind !== 'struct') return nodeSchema(node, context)
  const required = node.fields.filter((field) => field.required || field.listedAsRequired).map((field) => field.name)
  const properties = node.fields.map((field) => [field.name, propertySchema(field, context)] as const)
  return {
    ...(node.doc === undefined ? {} : { description: node.doc }),
    type: 'object',
    ...(required.length === 0 ? {} : { required }),
    ...(properties.length === 0 ? {} : { properties: Object.fromEntries(properties) }),
    ...(node.hasTypeMeta || sharedKinds.has(plainNameOf(type)) ? { 'x-kubernetes-group-version-kind': gvksOf(type, context) } : {}),
    ...(node.structType === undefined ? {} : { 'x-kubernetes-map-type': node.structType }),
    ...(node.isUnion ? { 'x-kubernetes-unions': [unionOf(node)] } : {}),
  }
}

/** Kinds whose version is written without their package's group. */
const unversioned = new Set([
  'meta/v1.Status',
  'meta/v1.APIVersions',
  'meta/v1.APIGroup',
  'meta/v1.APIGroupList',
  'meta/v1.APIResourceList',
])

function gvksOf(type: string, { names, apiVersions }: Context): Schema[] {
  const kind = typeOf(type)
  if (sharedKinds.has(plainNameOf(type))) return apiVersions.map(({ group, version }) => ({ group, kind, version }))
  const { group, version } = unversioned.has(plainNameOf(type)) ? { group: '', version: 'v1' } : groupVersionOf(names, packageOf(type))
  return [{ group, kind, version }]
}

/** The discriminator value of each field, which is the field's name with an initial capital. */
function unionOf(node: StructNode): Schema {
  const discriminator = node.fields.find((field) => field.unionDiscriminator)
  const others = node.fields.filter((field) => field !== discriminator)
  const values = others.map(({ name }) => [name, name.charAt(0).toUpperCase() + name.slice(1)])
  return { discriminator: discriminator?.name, 'fields-to-discriminateBy': Object.fromEntries(values) }
}

function propertySchema(field: Field, context: Context): Schema {
  const schema = nodeSchema(field.node, context, !field.pointer || context.level >= 27)
  const siblings: Schema = {
    ...(field.doc === undefined ? {} : { description: field.doc }),
    ...defaultOf(field, context),
    ...extensionsOf(field),
  }
  return withSiblings(schema, siblings, context.dialect)
}

/** In OpenAPI 3, references have no siblings, so the reference moves one level down. */
function withSiblings(schema: Schema, siblings: Schema, { version }: Dialect): Schema {
  if (version === 2 || !('$ref' in schema) || Object.keys(siblings).length === 0) return { ...siblings, ...schema }
  return { ...siblings, allOf: [schema] }
}

function defaultOf(field: Field, context: Context): Schema {
  if (context.dialect.version === 2) return {}
  if (field.default !== undefined) return { default: field.default }
  if (field.pointer) return {}
  const isPrinted = field.required === true || field.keepEmpty === true
  return implicitDefault(field.node, isPrinted, context.level)
}

/** The zero value of a field that cannot be absent. Lists and maps have none, and from 1.29 on neither do types with several forms. */
function implicitDefault(node: Node, isPrinted: boolean, level: number): Schema {
  const { kind } = resolveNode(node)
  const zero = zeros[kind]
  if (zero === undefined || (typeof zero === 'object' ? kind !== 'struct' && level >= 29 : !isPrinted)) return {}
  return { default: zero }
}

/** Zero values of fields that cannot be absent. Objects have one even if it is not printed. */
const zeros: Readonly<Record<Node['kind'], '' | false | 0 | Record<never, never> | undefined>> = {
  struct: {},
  time: {},
  microTime: {},
  quantity: {},
  intOrString: {},
  raw: {},
  ...scalarZeros,
  ref: undefined,
  list: undefined,
  map: undefined,
  variant: {},
  bytes: undefined,
  json: {},
  fieldsV1: undefined,
}

function extensionsOf(field: Field): Schema {
  const extensions: Schema = {
    'x-kubernetes-list-map-keys': field.listMapKeys,
    'x-kubernetes-list-type': field.listType,
    'x-kubernetes-map-type': field.mapType ?? field.structType,
    'x-kubernetes-patch-merge-key': field.patchMergeKey,
    'x-kubernetes-patch-strategy': field.patchStrategy,
  }
  return Object.fromEntries(Object.entries(extensions).filter(([, value]) => value !== undefined))
}

/** Fields that may be absent have enums from 1.27 on. */
function nodeSchema(node: Node, context: Context, hasEnum = true): Schema {
  if (isScalar(node)) return isSpecial(node.kind) ? context.refToSpecial(node.kind) : { ...plain[node.kind] }
  switch (node.kind) {
    case 'ref':
      return referenceSchema(node.name, context, hasEnum)
    case 'list':
      return { type: 'array', items: elementSchema(node.items, context) }
    case 'map':
      return { type: 'object', additionalProperties: elementSchema(node.values, context) }
    case 'string':
      return { type: 'string', ...(node.isClosed && hasEnum ? { enum: [...(node.values ?? [])].sort() } : {}) }
    case 'struct':
      return { type: 'object' }
    case 'variant':
      return {}
  }
}

function isSpecial(kind: ScalarNode['kind']): kind is keyof typeof special {
  return Object.hasOwn(special, kind)
}

const plain: Readonly<Record<Exclude<ScalarNode['kind'], keyof typeof special>, Schema>> = {
  boolean: { type: 'boolean' },
  int32: { type: 'integer', format: 'int32' },
  int64: { type: 'integer', format: 'int64' },
  double: { type: 'number', format: 'double' },
  bytes: { type: 'string', format: 'byte' },
}

/** Text types are written inline; structs and types with several forms have a definition. */
function referenceSchema(type: string, context: Context, hasEnum: boolean): Schema {
  const target = resolveType(type)
  return target.kind === 'struct' || target.kind === 'variant' ? context.refTo(type) : nodeSchema(target, context, hasEnum)
}

/** Items of lists and values of maps have implicit defaults up to 1.36, and enums from 1.30 on. */
function elementSchema(node: Node, context: Context): Schema {
  const { dialect, level } = context
  const schema = nodeSchema(node, context, level >= 30)
  return dialect.version === 2 || level >= 37 ? schema : withSiblings(schema, implicitDefault(node, true, level), dialect)
}
