import type { Node, ScalarNode, StructNode, VariantNode } from './node.ts'
import { resolveNode } from './resolve.ts'
import { Mismatch, scalarReaders, structDepthMax, tooDeepText, typeName } from './scalars.ts'

/** The first value of the wrong type, with its path. Undefined: there is none. */
export function findMismatch(node: Node, value: unknown): { path: string; message: string } | undefined {
  const found: { path: string; message: string }[] = []
  walk(node, value, '', { mismatch: (path, message) => found.push({ path, message }), unknown: () => {}, depth: 0 })
  return found[0]
}

/** Unknown fields of one body that are named: as many as kube-apiserver names. */
const unknownFieldsMax = 100

/** Paths of the first fields that the type does not have, in the order of the input: `spec.containers[0].foo`. */
export function findUnknownFields(node: Node, value: unknown): string[] {
  const found: string[] = []
  const unknown = (parent: string, name: string) => {
    if (found.length < unknownFieldsMax) found.push(childPath(parent, name))
  }
  walk(node, value, '', { mismatch: () => {}, unknown, depth: 0 })
  return found
}

/** `spec` and `replicas` make `spec.replicas`. */
export function childPath(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`
}

interface Report {
  readonly mismatch: (path: string, message: string) => void
  readonly unknown: (parent: string, name: string) => void
  /** How many structs are open. */
  depth: number
}

/** The slow companion of the decoder: it knows where it is, and is asked only when something is wrong. */
function walk(node: Node, value: unknown, path: string, report: Report): void {
  if (value === null || value === undefined) return
  const target = resolveNode(node)
  switch (target.kind) {
    case 'ref':
      walk(target, value, path, report)
      return
    case 'list':
      walkList(target.items, value, path, report)
      return
    case 'map':
      walkMap(target.values, value, path, report)
      return
    case 'struct':
      walkStruct(target, value, path, report)
      return
    case 'variant':
      walkVariant(target, value, path, report)
      return
    case 'string':
    case 'boolean':
    case 'int32':
    case 'int64':
    case 'double':
    case 'bytes':
    case 'time':
    case 'microTime':
    case 'quantity':
    case 'intOrString':
    case 'raw':
    case 'json':
    case 'fieldsV1':
      checkScalar(target.kind, value, path, report)
      return
  }
}

function checkScalar(kind: ScalarNode['kind'] | 'string', value: unknown, path: string, report: Report): void {
  try {
    scalarReaders[kind].read(value)
  } catch (error) {
    if (!(error instanceof Mismatch)) throw error
    report.mismatch(path, error.message)
  }
}

function walkList(items: Node, value: unknown, path: string, report: Report): void {
  if (!Array.isArray(value)) {
    report.mismatch(path, `expected array, got ${typeName(value)}`)
    return
  }
  for (const [index, element] of value.entries()) walk(items, element, `${path}[${index}]`, report)
}

function walkMap(values: Node, value: unknown, path: string, report: Report): void {
  if (!isObject(value)) {
    report.mismatch(path, `expected object, got ${typeName(value)}`)
    return
  }
  for (const [key, element] of Object.entries(value)) walk(values, element, childPath(path, key), report)
}

function walkStruct(node: StructNode, value: unknown, path: string, report: Report): void {
  if (!isObject(value)) {
    report.mismatch(path, `expected object, got ${typeName(value)}`)
    return
  }
  if (report.depth === structDepthMax) {
    report.mismatch(path, tooDeepText)
    return
  }
  report.depth += 1
  const fields = new Map(node.fields.map((field) => [field.name, field]))
  for (const [name, element] of Object.entries(value)) {
    const field = fields.get(name)
    if (field === undefined) report.unknown(path, name)
    else walk(field.node, element, childPath(path, name), report)
  }
  report.depth -= 1
}

function walkVariant(node: VariantNode, value: unknown, path: string, report: Report): void {
  if (node.boolean !== undefined && typeof value === 'boolean') return
  const form = node.array !== undefined && Array.isArray(value) ? node.array : node.object
  walk(form.node, value, path, report)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
