import { type Node, resolveNode, type StructNode } from '@orch/core/schema'
import type { Chance } from './chance.ts'

/** A notation of values. Every JSON text is also YAML, which has further forms. */
export type Notation = 'json' | 'yaml'

/** The rate of bad leaves: one leaf in this number has another type or a value out of bounds. */
export interface Drawing {
  readonly chance: Chance
  readonly notation: Notation
  readonly hostileOneIn: number
}

const integers = [
  ...['0', '-1', '1', '80', '65535', '65536', '2147483647', '2147483648', '-2147483649', '9007199254740991', '9007199254740992'],
  ...['9007199254740993', '-9007199254740993', '9223372036854775807', '-9223372036854775808', '9223372036854775808'],
]
const numbers = ['0.5', '-0', '1e3', '1e21', '1e400', '-1e-400', '18446744073709551616', '1'.repeat(400), '0.1e-7', '5e-324']
const words = [
  ...['a', 'b', 'web', 'TCP', 'Always', 'example.com/x', 'a.b.c', 'A B', '', ' ', '-', '.', '..', '*', '0', 'true', 'null', 'kube-system'],
  ...[
    '10.0.0.1',
    '10.0.0.0/8',
    'fd00::1',
    '::ffff:1.2.3.4',
    '256.1.1.1',
    'https://example.com/',
    'http://[::1',
    '100m',
    '1Ki',
    '-1',
    '1e3',
  ],
  ...['2026-01-01T00:00:00Z', '2026-13-01T00:00:00Z', '0001-01-01T00:00:00Z', '* * * * *', '@hourly', 'AAEC', '====', '50%', '101%'],
  ...[
    '__proto__',
    'constructor',
    'hasOwnProperty',
    'ü',
    '\u0000',
    '\ud800',
    '\udc00x',
    '\u2028',
    '😀',
    '\u202e',
    'a'.repeat(64),
    'a'.repeat(254),
  ],
  ...['$(A)', '{{', '/etc/../x', 'C:\\x', 'kubernetes.io/tls', 'orch.io/x', '%s%n', '\n', '\t'],
]
const structures = [
  'null',
  'true',
  'false',
  '[]',
  '{}',
  '[null]',
  '[[]]',
  '{"":""}',
  '{"__proto__":{"a":1}}',
  '{"constructor":{"prototype":{}}}',
  '{"a":1,"a":2}',
  '{"toString":1,"valueOf":1,"toJSON":1}',
  '[1,"a",null,{}]',
  '{"a":{"b":{"c":{"d":{}}}}}',
  '[{"name":"a"},{"name":"a"}]',
]
const yamlOnly = [
  ...['&a [*a]', '&b {x: *b}', '!!binary AAEC', '!!set {a, b}', '!!js/undefined x', '.inf', '-.inf', '.nan', '0o17', '0x1F', '1_000', '~'],
  ...[
    '2001-12-14t21:59:43.10-05:00',
    "'it''s'",
    'plain text',
    '{? [a] : b}',
    '{<<: {a: b}}',
    '!unknown x',
    '*nowhere',
    '"\\ud800"',
    'yes',
    '0b11',
  ],
]
/** Values that are expensive to process. */
const heavy: readonly ((chance: Chance) => string)[] = [
  () => '['.repeat(20_000) + ']'.repeat(20_000),
  () => `${'{"a":'.repeat(9_000)}1${'}'.repeat(9_000)}`,
  () => printText('x'.repeat(200_000)),
  (chance) => `{${Array.from({ length: 3_000 }, (_, index) => `"k${index}${chance.below(9)}":"v"`).join()}}`,
  () => `[${Array.from({ length: 3_000 }, (_, index) => `{"name":"n${index}","value":"${index}"}`).join()}]`,
]

/** A value that fits no type. */
export function hostileValue({ chance, notation }: Drawing): string {
  if (chance.oneIn(400)) return chance.pick(heavy)(chance)
  if (notation === 'yaml' && chance.oneIn(2)) return chance.pick(yamlOnly)
  switch (chance.below(4)) {
    case 0:
      return chance.pick(integers)
    case 1:
      return chance.pick(numbers)
    case 2:
      return chance.pick(structures)
    default:
      return printText(chance.pick(words))
  }
}

export function someWord(chance: Chance): string {
  return chance.pick(words)
}

/** The JSON of a string; half of a surrogate pair sometimes stays unescaped. */
function printText(text: string): string {
  return JSON.stringify(text)
}

/** A value of a type, or of no type. Some leaves are hostile. The text is JSON or YAML. */
export function drawValue(node: Node, drawing: Drawing, depth = 0): string {
  const { chance, hostileOneIn } = drawing
  if (chance.oneIn(hostileOneIn)) return hostileValue(drawing)
  const known = resolveNode(node)
  const inner = (of: Node) => drawValue(of, drawing, depth + 1)
  switch (known.kind) {
    case 'ref':
      return inner(known)
    case 'struct':
      return structOf(known, drawing, depth)
    case 'list':
      return `[${chance.several(depth > 6 ? 1 : 3, () => inner(known.items)).join()}]`
    case 'map':
      return `{${chance.several(depth > 6 ? 1 : 3, () => `${printText(chance.pick(words))}:${inner(known.values)}`).join()}}`
    case 'variant':
      return inner(chance.oneIn(2) ? known.object.node : (known.array ?? known.boolean ?? known.object).node)
    case 'string':
      return printText(known.values !== undefined && !chance.oneIn(5) ? chance.pick(known.values) : chance.pick(words))
    case 'boolean':
      return chance.pick(['true', 'false'])
    case 'int32':
    case 'int64':
      return chance.pick(integers)
    case 'double':
      return chance.pick(numbers)
    case 'bytes':
      return printText(chance.pick(['', 'AAEC', 'AA==', 'x']))
    case 'time':
    case 'microTime':
      return printText(
        chance.pick(['2026-01-01T00:00:00Z', '2026-01-01T00:00:00.123456Z', '1969-12-31T23:59:59+14:00', '9999-12-31T23:59:59Z', '']),
      )
    case 'quantity':
      return chance.pick([
        '"1"',
        '"100m"',
        '"1Gi"',
        '1',
        '"-1"',
        '"1e999"',
        '"0.0000000001"',
        '9007199254740993',
        '"9223372036854775808Ei"',
      ])
    case 'intOrString':
      return chance.pick(['1', '"50%"', '"http"', '65536', '-1', '"101%"', '2147483648'])
    case 'raw':
    case 'json':
    case 'fieldsV1':
      return chance.pick(structures)
  }
}

/** Some fields of a struct, rarely all. */
function structOf({ fields }: StructNode, drawing: Drawing, depth: number): string {
  const { chance } = drawing
  const oneIn = depth > 4 ? 8 : chance.pick([1, 2, 2, 3, 6])
  const members = fields
    .filter(({ required }) => (required && depth < 8) || chance.oneIn(oneIn))
    .map(({ name, node }) => `${printText(name)}:${drawValue(node, drawing, depth + 1)}`)
  if (chance.oneIn(40)) members.push(`${printText(chance.pick(words))}:${hostileValue(drawing)}`)
  if (chance.oneIn(60) && members[0] !== undefined) members.push(members[0])
  return `{${members.join()}}`
}

/** A sample of a type. Some values are replaced, missing or duplicate, and some fields are additional. */
export function drawVariant(sample: unknown, node: Node | undefined, drawing: Drawing): string {
  const { chance } = drawing
  if (chance.oneIn(drawing.hostileOneIn)) return node === undefined ? hostileValue(drawing) : drawValue(node, drawing, 4)
  const known = node === undefined ? undefined : resolveNode(node)
  if (Array.isArray(sample)) {
    const items = known?.kind === 'list' ? known.items : undefined
    const texts = sample.map((item) => drawVariant(item, items, drawing))
    return `[${(chance.oneIn(20) ? [...texts, ...texts] : texts).join()}]`
  }
  if (typeof sample !== 'object' || sample === null) return JSON.stringify(sample) ?? 'null'
  const fields = known?.kind === 'struct' ? known.fields : []
  const values = known?.kind === 'map' ? known.values : undefined
  const members = Object.entries(sample)
    .filter(([, value]) => value !== undefined && !chance.oneIn(60))
    .map(([name, value]) => {
      const field = fields.find((one) => one.name === name)
      return `${printText(name)}:${drawVariant(value, field?.node ?? values, drawing)}`
    })
  if (fields.length > 0 && chance.oneIn(3)) {
    const { name, node: added } = chance.pick(fields)
    members.push(`${printText(name)}:${drawValue(added, drawing, 3)}`)
  }
  if (chance.oneIn(60)) members.push(`${printText(chance.pick(words))}:${hostileValue(drawing)}`)
  return `{${members.join()}}`
}
