import { kubernetesTypes } from '@orch/cel/kubernetes'
import { type CelType, listOf, mapOf, objectOf, type TypeProvider, types } from '@orch/cel/types'
import type { FieldNode, ViewNode } from '@orch/cel/views'

/** The fields of an object type, by name. */
type Fields = Readonly<Record<string, CelType>>

const variablesName = 'kubernetes.variables'

const { string, bool, int, timestamp, dyn } = types
const texts = mapOf(string, string)

const versionKind = { group: string, version: string, kind: string }
const versionResource = { group: string, version: string, resource: string }

/** Object types of the variables `request` and `namespaceObject`, with kube-apiserver's names. */
const objectTypes: Readonly<Record<string, Fields>> = {
  'kubernetes.GroupVersionKind': versionKind,
  'kubernetes.GroupVersionResource': versionResource,
  'kubernetes.UserInfo': { username: string, uid: string, groups: listOf(string), extra: mapOf(string, listOf(string)) },
  'kubernetes.AdmissionRequest': {
    kind: objectOf('kubernetes.GroupVersionKind'),
    resource: objectOf('kubernetes.GroupVersionResource'),
    subResource: string,
    requestKind: objectOf('kubernetes.GroupVersionKind'),
    requestResource: objectOf('kubernetes.GroupVersionResource'),
    requestSubResource: string,
    name: string,
    namespace: string,
    operation: string,
    userInfo: objectOf('kubernetes.UserInfo'),
    dryRun: bool,
    options: dyn,
  },
  'kubernetes.NamespaceMetadata': {
    name: string,
    generateName: string,
    namespace: string,
    labels: texts,
    annotations: texts,
    UID: string,
    creationTimestamp: timestamp,
    deletionGracePeriodSeconds: int,
    deletionTimestamp: timestamp,
    generation: int,
    resourceVersion: string,
    finalizers: listOf(string),
  },
  'kubernetes.NamespaceSpec': { finalizers: listOf(string) },
  'kubernetes.NamespaceCondition': { type: string, status: string, lastTransitionTime: timestamp, reason: string, message: string },
  'kubernetes.NamespaceStatus': { conditions: listOf(objectOf('kubernetes.NamespaceCondition')), phase: string },
  'kubernetes.Namespace': {
    metadata: objectOf('kubernetes.NamespaceMetadata'),
    spec: objectOf('kubernetes.NamespaceSpec'),
    status: objectOf('kubernetes.NamespaceStatus'),
  },
}

/** The variables of policies besides the objects themselves. */
export const policyTypes = {
  request: objectOf('kubernetes.AdmissionRequest'),
  namespace: objectOf('kubernetes.Namespace'),
  variables: objectOf(variablesName),
  authorizer: kubernetesTypes.authorizer,
  requestResource: kubernetesTypes.resourceCheck,
}

/** The type of a merge patch, whose parts have types named by their paths, and the type of a JSON patch operation. */
export const mutationTypes = { object: objectOf('Object'), jsonPatch: objectOf('JSONPatch') }

const operationFields: Fields = { op: string, path: string, from: string, value: dyn }

/** The types above, those of a policy's variables, and those of objects with a declared type. */
export class PolicyTypes implements TypeProvider {
  readonly #variables: ReadonlyMap<string, CelType>
  readonly #isMutating: boolean
  readonly #declared: readonly TypeProvider[]

  constructor(variables: ReadonlyMap<string, CelType>, isMutating: boolean, declared: readonly TypeProvider[]) {
    this.#variables = variables
    this.#isMutating = isMutating
    this.#declared = declared
  }

  /** The types that expressions can construct. */
  findType(name: string): CelType | undefined {
    if (!this.#isMutating) return undefined
    return name === 'JSONPatch' || name === 'Object' || name.startsWith('Object.') ? objectOf(name) : undefined
  }

  findField(typeName: string, field: string): CelType | undefined {
    if (typeName === 'JSONPatch') return Object.hasOwn(operationFields, field) ? operationFields[field] : undefined
    if (typeName === 'Object' || typeName.startsWith('Object.')) return dyn
    if (typeName === variablesName) return this.#variables.get(field)
    const fields = Object.hasOwn(objectTypes, typeName) ? objectTypes[typeName] : undefined
    if (fields !== undefined) return Object.hasOwn(fields, field) ? fields[field] : undefined
    for (const provider of this.#declared) {
      const found = provider.findField(typeName, field)
      if (found !== undefined) return found
    }
    return undefined
  }
}

const nodes = new Map<string, ViewNode>()

/** Views JSON as one of these types. */
export function policyView(what: 'request' | 'namespace'): ViewNode {
  return viewOfType(policyTypes[what])
}

function viewOfType(type: CelType): ViewNode {
  if (type.kind === 'timestamp') return { kind: 'timestamp' }
  if (type.kind === 'list' && type.element.kind === 'object') {
    return { kind: 'list', items: viewOfType(type.element), rule: { kind: 'atomic' } }
  }
  if (type.kind !== 'object') return { kind: 'plain' }
  const known = nodes.get(type.name)
  if (known !== undefined) return known
  const fields = Object.entries(objectTypes[type.name] ?? {}).map(([name, field]): [string, FieldNode] => [
    name,
    { property: name === 'UID' ? 'uid' : name, node: viewOfType(field) },
  ])
  const node: ViewNode = { kind: 'object', typeName: type.name, fields: new Map(fields) }
  nodes.set(type.name, node)
  return node
}
