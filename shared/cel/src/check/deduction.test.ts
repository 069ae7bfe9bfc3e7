import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { Environment } from '../environment.ts'
import { kubernetesLibraries } from '../kubernetes/index.ts'
import type { Functions } from '../library.ts'
import { type CelType, listOf, mapOf, opaqueOf, optionalOf, parameterOf, printType, types } from '../types.ts'

/** A type as cases spell it. */
type Spelled =
  | keyof typeof types
  | { readonly list?: Spelled; readonly map?: readonly [Spelled, Spelled]; readonly param?: string }
  | { readonly abstract: string; readonly params?: readonly Spelled[] }

interface Declared {
  readonly name: string
  readonly type?: Spelled
  readonly function?: readonly { readonly id: string; readonly params: readonly Spelled[]; readonly result: Spelled }[]
}

interface DeductionCase {
  readonly section: string
  readonly name: string
  readonly expr: string
  readonly checkOnly?: boolean
  readonly typeEnv?: readonly Declared[]
  readonly expect: { readonly type: Spelled }
}

function typeOf(spelled: Spelled): CelType {
  if (typeof spelled === 'string') return types[spelled]
  if ('abstract' in spelled) {
    const parameters = (spelled.params ?? []).map(typeOf)
    return spelled.abstract === 'optional_type' ? optionalOf(parameters[0] ?? types.dyn) : opaqueOf(spelled.abstract, ...parameters)
  }
  if (spelled.list !== undefined) return listOf(typeOf(spelled.list))
  if (spelled.map !== undefined) return mapOf(typeOf(spelled.map[0]), typeOf(spelled.map[1]))
  return parameterOf(spelled.param ?? '')
}

function functionsOf(declared: readonly Declared[]): Functions {
  const functions = declared.map(({ name, function: overloads = [] }) => [
    name,
    overloads.map(({ id, params, result }) => ({ id, member: false, parameters: params.map(typeOf), result: typeOf(result) })),
  ])
  return Object.fromEntries(functions)
}

const [, ...lines] = readFileSync(new URL('../cases/spec-conformance.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
const cases = lines.map((line): DeductionCase => JSON.parse(line)).filter(({ checkOnly }) => checkOnly === true)

/** For a list of an optional and null, cel-go finds the type null. */
const ofCelGo = new Map([['null_assignable_to_abstract_parameter_candidate', 'null']])

test.each(cases)('CEL-01: $section/$name: $expr has the type of the specification', ({ name, expr, typeEnv = [], expect: wanted }) => {
  const declared = { name: 'case', since: 0, functions: functionsOf(typeEnv) }
  const environment = new Environment({ libraries: [...kubernetesLibraries, declared], mixedLiterals: true })
  const result = environment.compile(expr)
  expect(result.kind === 'compiled' ? printType(result.ast.type) : result.message).toBe(ofCelGo.get(name) ?? printType(typeOf(wanted.type)))
})
