import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { Environment } from '../environment.ts'
import { kubernetesLibraries } from '../kubernetes/index.ts'
import { bindMacro } from '../macros/bind.ts'
import { type CelType, listOf, mapOf, types } from '../types.ts'
import { CelMap, itemsOf, mapGet, mapKeys, mapSize } from '../values/collections.ts'
import { equal } from '../values/equal.ts'
import { unlimitedMeter } from '../values/meter.ts'
import { Duration, doubleOf, kindOf, Timestamp, TypeValue, toDouble, toInt, Uint, type Value } from '../values/values.ts'
import { plan } from './plan.ts'

type Tagged = Readonly<Record<string, unknown>>

interface ConformanceCase {
  readonly file: string
  readonly section: string
  readonly name: string
  readonly expr: string
  readonly container?: string
  readonly typeEnv?: readonly { readonly name: string; readonly type: unknown }[]
  readonly bindings?: Readonly<Record<string, Tagged>>
  readonly disableCheck?: boolean
  readonly checkOnly?: boolean
  readonly expect?: { readonly value?: Tagged; readonly error?: string }
}

const [, ...lines] = readFileSync(new URL('../cases/spec-conformance.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
const cases = lines.map((line) => JSON.parse(line) as ConformanceCase)

/** Kubernetes' differences from the specification, and cases that need protobuf messages. */
const exceptions = new Set([
  // `getMilliseconds` gives the whole duration in milliseconds, as in cel-go.
  'timestamps/duration_converters/get_milliseconds',
  'dynamic/value_null/literal',
  // Texts are reversed from version 3 of the strings library on; Kubernetes has version 2.
  'string_ext/reverse/empty',
  'string_ext/reverse/single_character',
  'string_ext/reverse/multiple',
  // An IPv4-mapped IPv6 address is refused, in hexadecimal digits too.
  'network_ext/ipv4/ipv4_equals_ipv6',
  'network_ext/ipv4/ipv4_not_equals_ipv6',
])

function readTagged(tagged: Tagged): Value {
  const [[kind, raw] = ['', undefined]] = Object.entries(tagged)
  const nanoseconds = (parts: readonly number[]) => BigInt(parts[0] ?? 0) * 1_000_000_000n + BigInt(parts[1] ?? 0)
  switch (kind) {
    case 'null':
      return null
    case 'int':
      return toInt(BigInt(String(raw)))
    case 'uint':
      return new Uint(BigInt(String(raw)))
    case 'double':
      return toDouble(Number(raw))
    case 'bytes':
      return Uint8Array.from(atob(String(raw)), (unit) => unit.charCodeAt(0))
    case 'list':
      return (raw as Tagged[]).map(readTagged)
    case 'map': {
      const map = new CelMap()
      for (const [key, value] of raw as [Tagged, Tagged][]) map.add(readTagged(key), readTagged(value))
      return map
    }
    case 'duration':
      return new Duration(nanoseconds(raw as number[]))
    case 'timestamp':
      return new Timestamp(nanoseconds(raw as number[]))
    case 'type':
      return new TypeValue(String(raw))
    default:
      return raw
  }
}

/** True for equal values of the same kind: `1 == 1.0` is not enough. Both zeros are the same, since the cases do not state the sign. */
function isSame(a: Value, b: Value): boolean {
  if (kindOf(a) !== kindOf(b)) return false
  if (kindOf(a) === 'double') return doubleOf(a) === doubleOf(b) || (Number.isNaN(doubleOf(a)) && Number.isNaN(doubleOf(b)))
  if (kindOf(a) === 'list')
    return (
      itemsOf(unlimitedMeter(), a).length === itemsOf(unlimitedMeter(), b).length &&
      itemsOf(unlimitedMeter(), a).every((item, at) => isSame(item, itemsOf(unlimitedMeter(), b)[at]))
    )
  if (kindOf(a) === 'map')
    return (
      mapSize(unlimitedMeter(), a) === mapSize(unlimitedMeter(), b) &&
      [...mapKeys(unlimitedMeter(), a)].every((key) => isSame(mapGet(unlimitedMeter(), a, key), mapGet(unlimitedMeter(), b, key)))
    )
  return equal(unlimitedMeter(), a, b) === true
}

const simple: Readonly<Record<string, CelType>> = {
  ...types,
  null_type: types.null,
  'google.protobuf.Duration': types.duration,
  'google.protobuf.Timestamp': types.timestamp,
}

function typeOf(declared: unknown): CelType {
  if (typeof declared === 'string') return simple[declared] ?? types.dyn
  const { list, map } = declared as { list?: unknown; map?: [unknown, unknown] }
  if (list !== undefined) return listOf(typeOf(list))
  return map === undefined ? types.dyn : mapOf(typeOf(map[0]), typeOf(map[1]))
}

const libraries = [...kubernetesLibraries, { name: 'bind', since: 0, functions: {}, macros: [bindMacro] }]

/** True if the case gives its expected result. */
function passes(each: ConformanceCase): boolean {
  const { container = '', typeEnv = [], bindings = {} } = each
  const environment = new Environment({
    libraries,
    mixedLiterals: true,
    formatStyle: 'specified',
    escapedFields: true,
    container,
    check: each.disableCheck !== true,
    variables: Object.fromEntries(typeEnv.map(({ name, type }) => [name, typeOf(type)])),
  })
  const wanted = each.expect?.value
  const compiled = environment.compile(each.expr)
  if (compiled.kind === 'invalid') return wanted === undefined
  const planned = plan(compiled.ast, { formatStyle: 'specified', container })
  if (planned.kind === 'refused') return wanted === undefined
  const variables = Object.fromEntries(Object.entries(bindings).map(([name, tagged]) => [name, readTagged(tagged)]))
  const evaluation = planned.program.evaluate(variables)
  if (evaluation.kind === 'error' || wanted === undefined) return evaluation.kind === 'error' && wanted === undefined
  return isSame(evaluation.value, readTagged(wanted))
}

const evaluated = cases.filter(
  ({ checkOnly, expect: wanted }) => checkOnly !== true && (wanted?.value !== undefined || wanted?.error !== undefined),
)

describe('conformance with the specification', () => {
  test.each([...new Set(evaluated.map(({ file }) => file))])('CEL-01: passes the section %s', (file) => {
    const failed = evaluated.filter((each) => each.file === file && !passes(each)).map(({ section, name }) => `${file}/${section}/${name}`)
    expect(failed).toEqual([...exceptions].filter((name) => name.startsWith(`${file}/`)))
  })

  test('CEL-01: at most five of a thousand cases are exceptions', () => {
    expect(evaluated).toHaveLength(1_503)
    expect(exceptions.size).toBeLessThanOrEqual(evaluated.length * 0.005)
  })
})
