import { unlimitedMeter } from '../../../shared/cel/src/values/meter.ts'
import { parseDate, parseDuration, parseTimestamp } from '../../../shared/cel/src/values/time.ts'
import { toDouble } from '../../../shared/cel/src/values/values.ts'
import { viewOf } from '../../../shared/cel/src/values/views.ts'
import { viewNodeOf } from '../../../shared/core/src/structural/rules/compile.ts'
import type { Declared, DeclaredTypes } from '../../../shared/core/src/structural/rules/declared.ts'
import { type Draw, pick } from './draw.ts'
import { type Collection, joined, type LeafKind, noLeaves, type Reachable } from './typed-expressions.ts'

/** A JSON schema as in a definition. */
export type Schema = Readonly<Record<string, unknown>>

/** The properties, and their names in expressions. */
const names: ReadonlyMap<string, string> = new Map([
  ['a', 'a'],
  ['b', 'b'],
  ['c-d', 'c__dash__d'],
  ['e.f', 'e__dot__f'],
  ['in', '__in__'],
  ['g__h', 'g__underscores__h'],
  ['namespace', '__namespace__'],
])

/** A random schema of an object. */
export function drawSchema(draw: Draw, depth = 3): Schema {
  const own = [...names.keys()].filter(() => draw(3) > 0)
  return { type: 'object', properties: Object.fromEntries(own.map((name) => [name, drawNode(draw, depth - 1)])) }
}

const texts = ['', 'a', 'text', 'some text 👑', 'k', 'bb']
const scalars: readonly Schema[] = [
  { type: 'integer' },
  { type: 'integer' },
  { type: 'number' },
  { type: 'string' },
  { type: 'string', maxLength: 20 },
  { type: 'boolean' },
  { type: 'string', format: 'date-time' },
  { type: 'string', format: 'date' },
  { type: 'string', format: 'duration' },
  { type: 'string', format: 'byte' },
]

function drawNode(draw: Draw, depth: number): Schema {
  if (depth <= 0 || draw(3) === 0) return pick(draw, scalars)
  switch (draw(5)) {
    case 0:
      return drawSchema(draw, depth)
    case 1:
      return { type: 'object', additionalProperties: draw(2) === 0 ? { type: 'integer' } : drawNode(draw, depth - 1) }
    case 2:
      return { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: pick(draw, ['string', 'integer']) } }
    case 3: {
      const { properties } = drawSchema(draw, depth - 1) as { readonly properties: Schema }
      const items = { type: 'object', required: ['a'], properties: { ...properties, a: { type: 'string' } } }
      return { type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['a'], items }
    }
    default:
      return { type: 'array', items: drawNode(draw, depth - 1) }
  }
}

interface Node {
  readonly type: string
  readonly format?: string
  readonly properties?: Readonly<Record<string, Node>>
  readonly additionalProperties?: Node
  readonly items?: Node
  readonly 'x-kubernetes-list-type'?: string
}

/** A random value that the schema allows. */
export function drawValue(draw: Draw, schema: Schema): unknown {
  return valueFor(draw, schema as unknown as Node)
}

function valueFor(draw: Draw, node: Node): unknown {
  switch (node.type) {
    case 'integer':
      return pick(draw, [0, 1, 2, -3, 7, 1000])
    case 'number':
      return pick(draw, [0, 1, 1.5, -2.25, 1e20])
    case 'boolean':
      return draw(2) === 0
    case 'string':
      return textOf(draw, node.format)
    case 'array':
      return listOf(draw, node)
    default:
      return objectOf(draw, node)
  }
}

function textOf(draw: Draw, format: string | undefined): string {
  switch (format) {
    case 'date-time':
      return pick(draw, ['2020-02-29T12:00:00Z', '1999-12-31T23:59:59.5+02:00'])
    case 'date':
      return pick(draw, ['2020-02-29', '1970-01-01'])
    case 'duration':
      return pick(draw, ['90s', '1h30m', '-5ms'])
    case 'byte':
      return pick(draw, ['', 'YWJj', '/////w=='])
    default:
      return pick(draw, texts)
  }
}

function listOf(draw: Draw, { items = { type: 'integer' }, 'x-kubernetes-list-type': listType }: Node): unknown[] {
  const made = Array.from({ length: draw(4) }, () => valueFor(draw, items))
  if (listType === 'set') return [...new Set(made)]
  if (listType !== 'map') return made
  return made.map((item, index) => ({ ...(item as object), a: `${texts[index + 1]}` }))
}

function objectOf(draw: Draw, { properties, additionalProperties }: Node): Readonly<Record<string, unknown>> {
  if (additionalProperties !== undefined) {
    const keys = texts.filter(() => draw(2) === 0)
    return Object.fromEntries(keys.map((key) => [key, valueFor(draw, additionalProperties)]))
  }
  const own = Object.entries(properties ?? {}).filter(() => draw(5) > 0)
  return Object.fromEntries(own.map(([name, node]) => [name, valueFor(draw, node)]))
}

/** The values that expressions can reach from variables of this schema. */
export function reachableFrom(variables: readonly string[], schema: Schema): Reachable {
  const collections: Collection[] = []
  const paths: (readonly [string, string])[] = []
  let leaves = noLeaves
  for (const [index, variable] of variables.entries()) {
    const found = collect(variable, schema as unknown as Node)
    leaves = joined(leaves, found.leaves)
    collections.push(...found.collections)
    for (const [place, path] of found.paths.entries()) {
      if (index > 0) paths.push([`${variables[0]}${path}`, `${variable}${path}`])
      if (place % 3 === 0) paths.push([`${variable}${path}`, `${variable}${path}`])
    }
  }
  return { leaves, collections, comparable: paths }
}

function collect(text: string, node: Node) {
  const leaves: Record<LeafKind, string[]> = {
    bool: [],
    int: [],
    double: [],
    text: [],
    time: [],
    span: [],
    ints: [],
    texts: [],
    amounts: [],
  }
  const collections: Collection[] = []
  const paths: string[] = []
  const visit = (at: string, part: Node): void => {
    paths.push(at.slice(text.length))
    const kind = kindOf(part)
    if (kind !== undefined) leaves[kind].push(at)
    if (part.format === 'byte') leaves.int.push(`size(${at})`)
    const { items, additionalProperties: values } = part
    if (items !== undefined) {
      leaves.int.push(`size(${at})`, `size(${at} + ${at})`)
      collections.push({ text: at, leavesOf: (item) => collect(item, items).leaves })
      visit(`${at}[0]`, items)
    }
    if (values !== undefined) {
      leaves.int.push(`size(${at})`)
      collections.push({
        text: at,
        leavesOf: (key) => joined({ ...noLeaves, text: [key], bool: [`(${key} in ${at})`] }, collect(`${at}[${key}]`, values).leaves),
      })
    }
    for (const [property, member] of Object.entries(part.properties ?? {})) {
      const path = `${at}.${names.get(property)}`
      leaves.bool.push(`has(${path})`)
      visit(path, member)
    }
  }
  visit(text, node)
  return {
    leaves,
    collections,
    /** The part of the path after the variable. */
    paths,
  }
}

function kindOf({ type, format, items, additionalProperties: values, 'x-kubernetes-list-type': listType }: Node): LeafKind | undefined {
  switch (type) {
    case 'integer':
      return 'int'
    case 'number':
      return 'double'
    case 'boolean':
      return 'bool'
    case 'string':
      return format === undefined ? 'text' : format === 'duration' ? 'span' : format === 'byte' ? undefined : 'time'
    case 'array':
      return items?.type === 'integer'
        ? 'ints'
        : items?.type === 'string' && items.format === undefined && listType === undefined
          ? 'texts'
          : undefined
    default:
      return values?.type === 'integer' ? 'amounts' : undefined
  }
}

/** Converts JSON to the values of expressions at once; views convert on demand. Lists with a rule stay views. */
export function converted(schema: Schema, declared: DeclaredTypes, json: unknown): unknown {
  return convert(schema as unknown as Node, declared.self, json)
}

function convert(node: Node, declared: Declared | undefined, json: unknown): unknown {
  if (typeof json === 'number') return node.type === 'number' ? toDouble(json) : json
  if (typeof json === 'string') return convertText(node.format, json)
  if (Array.isArray(json)) {
    if (node['x-kubernetes-list-type'] !== undefined && declared !== undefined) return viewOf(unlimitedMeter(), viewNodeOf(declared), json)
    return json.map((item) => convert(node.items ?? node, declared?.items, item))
  }
  if (typeof json !== 'object' || json === null) return json
  const { properties, additionalProperties: values } = node
  const entries = Object.entries(json).map(([name, value]) => {
    if (values !== undefined) return [name, convert(values, declared?.values, value)]
    const escaped = names.get(name) ?? name
    return [escaped, convert(properties?.[name] ?? node, declared?.field(escaped), value)]
  })
  return Object.fromEntries(entries)
}

function convertText(format: string | undefined, text: string): unknown {
  switch (format) {
    case 'date-time':
      return parseTimestamp(unlimitedMeter(), text)
    case 'date':
      return parseDate(unlimitedMeter(), text)
    case 'duration':
      return parseDuration(unlimitedMeter(), text)
    case 'byte':
      return Uint8Array.from(Buffer.from(text, 'base64'))
    default:
      return text
  }
}
