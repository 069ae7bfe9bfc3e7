import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { createCatalogue } from '../catalogue/catalogue.ts'
import { runAtOnce } from '../steps.ts'
import { openApi3DocumentInSteps, openApi3Names } from './v3.ts'

type Json = Readonly<Record<string, unknown>>

/** `core.v1.Pod spec` → its shape, in the notation of the file. */
type Shapes = Record<string, string>

const levels = [25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37]
const upstream = readFileSync(new URL('upstream-schemas.txt', import.meta.url), 'utf8').split('\n')

/** Up to 1.26, the published documents omit the aggregator's group. */
const aggregator = /^apiregistration\.v1\./

/** Only storage version migrations refer to it, whose version was beta and off by default. */
const offByDefault = /^meta\.v1\.GroupResource /

/** Known differences: from 1.27 to 1.30 an alpha version also had Status, scopes have an enum from 1.35 on, and 1.34 lacks some. */
const different = (level: number) => [
  ...(level < 31 ? [/^meta\.v1\.Status $/] : []),
  ...(level < 35 ? [/RuleWithOperations scope$/] : []),
  ...(level === 34 ? [/^resource\.v1\.\w+ (?:source|allocationMode)$/, /Webhook reinvocationPolicy$/] : []),
]

test.each(levels)(
  'ADDR-18: at 1.%d every schema has the types, defaults, enums, required fields and extensions of that release',
  (level) => {
    const [wanted, served] = [upstreamShapesAt(level), servedShapesAt(level)]
    const ours = Object.keys(served)
    expect(Object.keys(wanted).filter((path) => !(path in served) && !offByDefault.test(path))).toEqual([])
    expect(ours.filter((path) => !(path in wanted) && !(level < 27 && aggregator.test(path)))).toEqual([])
    const other = ours.filter((path) => path in wanted && served[path] !== wanted[path] && !different(level).some((one) => one.test(path)))
    expect(other.map((path) => `${path}: ${served[path]}, not ${wanted[path]}`)).toEqual([])
    expect(ours.length).toBeGreaterThan(2000)
  },
)

/** Kinds that every group version accepts. */
const shared = /^meta\.v1\.(?:DeleteOptions|WatchEvent)$/

function upstreamShapesAt(level: number): Shapes {
  const shapes: Shapes = {}
  let definition = ''
  for (const line of upstream) {
    if (line.startsWith('#') || line === '') continue
    const [, property = '', since = '', until = '', shape = ''] = /^ (\S*)(?: (\d*)-(\d*))? (.*)$/.exec(line) ?? []
    if (!line.startsWith(' ')) definition = line
    else if (Number(since) <= level && (until === '' || level <= Number(until))) shapes[`${definition} ${property}`] = shape
  }
  return shapes
}

function servedShapesAt(minor: number): Shapes {
  const catalogue = createCatalogue('kubernetes', { minor })
  const options = { hasIssuer: true }
  const shapes: Shapes = {}
  for (const name of openApi3Names(catalogue, options)) {
    const { schemas = {} } = runAtOnce(openApi3DocumentInSteps(catalogue, { name, serverVersion: '', ...options })).components
    for (const [definition, schema] of Object.entries(schemas as Record<string, Json>)) {
      if (!/\.v\d+(?:alpha|beta)\d+\./.test(definition)) Object.assign(shapes, definitionShapes(definition, schema))
    }
  }
  return shapes
}

function definitionShapes(name: string, schema: Json): Shapes {
  const definition = shortName(name)
  const prefix = definition.slice(0, definition.lastIndexOf('.') + 1)
  const { properties = {}, required, description: _description, type = 'any', ...extensions } = schema
  const kinds = extensions['x-kubernetes-group-version-kind'] as { group: string; version: string; kind: string }[] | undefined
  const [kind] = shared.test(definition) || kinds?.length !== 1 ? [] : kinds
  const own = [
    type,
    ...(required === undefined ? [] : [`!${required}`]),
    ...(kind === undefined ? [] : [`${kind.group}/${kind.version}/${kind.kind}`]),
    ...extensionWords({ ...extensions, 'x-kubernetes-group-version-kind': undefined }),
  ]
  const shapes = Object.entries(properties as Record<string, Json>).map(([property, value]) => [
    `${definition} ${property}`,
    shapeOf(value, prefix),
  ])
  return { [`${definition} `]: own.join(' '), ...Object.fromEntries(shapes) }
}

function shapeOf(value: Json, prefix: string): string {
  const {
    description: _description,
    type,
    format,
    $ref,
    allOf,
    items,
    additionalProperties,
    default: zero,
    enum: values,
    ...extensions
  } = value
  // This server wraps a reference to add a description that Kubernetes lacks.
  const reference = ($ref ?? (allOf as Json[] | undefined)?.[0]?.['$ref']) as string | undefined
  const inner = (items ?? additionalProperties) as Json | undefined
  const base = () => {
    if (reference !== undefined) return shortName(reference.replace('#/components/schemas/', '')).replace(prefix, '')
    if (type === 'array' && inner !== undefined) return `[${shapeOf(inner, prefix)}]`
    if (inner !== undefined) return `{${shapeOf(inner, prefix)}}`
    return format === undefined ? `${type ?? 'any'}` : `${type ?? 'any'}/${format}`
  }
  const fallback = zero === undefined ? '' : `=${JSON.stringify(zero)}`
  const enumeration = values !== undefined ? `(${(values as string[]).join('|')})` : ''
  return [base() + fallback + enumeration, ...extensionWords(extensions)].join(' ')
}

function extensionWords(extensions: Json): string[] {
  const given = Object.entries(extensions).filter(([, value]) => value !== undefined)
  return given
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, value]) => {
      const isPlain = typeof value === 'string' || (Array.isArray(value) && value.every((item) => typeof item === 'string'))
      return `${key.replace('x-kubernetes-', '')}:${isPlain ? value : JSON.stringify(value, inOrder)}`
    })
}

/** Sorts members by name. */
function inOrder(_key: string, value: unknown): unknown {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isObject ? Object.fromEntries(Object.entries(value).sort()) : value
}

function shortName(name: string): string {
  return name.replace(/^io\.k8s\.(?:api\.|(?:apimachinery|apiextensions-apiserver|kube-aggregator)\.pkg\.(?:apis\.)?)/, '')
}
