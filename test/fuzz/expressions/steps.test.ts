import { expect, test } from 'vitest'
import { check, checkInSteps } from '../../../shared/cel/src/check/check.ts'
import type { Names } from '../../../shared/cel/src/check/names.ts'
import { estimateCost, estimateCostInSteps, type SizeHints } from '../../../shared/cel/src/estimate/estimate.ts'
import { plan, planInSteps } from '../../../shared/cel/src/eval/plan.ts'
import { kubernetesLibraries } from '../../../shared/cel/src/kubernetes/index.ts'
import { largeParts, type Steps } from '../../../shared/cel/src/large.ts'
import { bindMacro } from '../../../shared/cel/src/macros/bind.ts'
import { standardMacros } from '../../../shared/cel/src/macros/standard.ts'
import { scanInSteps } from '../../../shared/cel/src/parse/lexer.ts'
import { parse, parseInSteps } from '../../../shared/cel/src/parse/parser.ts'
import { Progress } from '../../../shared/cel/src/parse/progress.ts'
import { type CelType, listOf, mapOf, types } from '../../../shared/cel/src/types.ts'
import { textAt } from './texts.ts'

const seed = Number(process.env['TEST_SEED'] ?? 1)
const count = 2_000

const macros = [...standardMacros, ...kubernetesLibraries.flatMap((library) => library.macros ?? []), bindMacro]
const syntax = { macros, optionals: true, escapedFields: false }

const declared = kubernetesLibraries.flatMap((library) => Object.entries(library.functions))
const functions = new Map(declared.map(([name, overloads]) => [name, { name, overloads }]))
const variables = new Map<string, CelType>(Object.entries({ self: mapOf(types.string, listOf(types.string)), x: types.dyn, n: types.int }))
const names: Names = {
  container: '',
  findGlobal: (name) => {
    const type = variables.get(name)
    return type && { type, reference: { kind: 'variable', name, isLocal: false } }
  },
  findType: () => undefined,
  findField: () => undefined,
  findFunction: (name) => functions.get(name),
}

const values = { self: { a: ['b', 'c'], '': [] }, x: { y: [1, 1.5, null, 'text', { z: true }] }, n: 7 }

function finish<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

/** The results of each stage for a text: without pauses, and with every part above the smallest size divided. */
function stagesOf(text: string) {
  const parsed = parse(text, syntax)
  const stages = [{ atOnce: parsed, inSteps: finish(parseInSteps(finish(scanInSteps(text, 5)), syntax, new Progress(3))) }]
  if (parsed.kind === 'invalid') return stages
  const { expr } = parsed
  const large = largeParts(expr, 2)
  const options = { mixedLiterals: false }
  const checked = check(text, expr, names, options)
  const inSteps = finish(checkInSteps(text, { expr, large }, names, options))
  return [...stages, { atOnce: sorted(checked), inSteps: sorted(inSteps) }, ...plansOf(checked, large)]
}

function plansOf(checked: ReturnType<typeof check>, large: ReturnType<typeof largeParts>) {
  if (checked.kind === 'invalid') return []
  const hints: SizeHints = { estimateSize: ({ length }) => (length > 3 ? undefined : { min: 0n, max: 10n }) }
  return [
    { atOnce: evaluated(plan(checked.ast)), inSteps: evaluated(finish(planInSteps(checked.ast, {}, large))) },
    { atOnce: estimateCost(checked.ast, hints), inSteps: finish(estimateCostInSteps(checked.ast, hints, large)) },
  ]
}

function evaluated(planned: ReturnType<typeof plan>) {
  return planned.kind === 'refused' ? planned : planned.program.evaluate(values, { costLimit: 10_000 })
}

/** Types and references in the order of their ids. */
function sorted(checked: ReturnType<typeof check>) {
  if (checked.kind === 'invalid') return checked
  const byId = <T>(entries: Iterable<[number, T]>) => [...entries].sort(([a], [b]) => a - b)
  return { ...checked.ast, types: byId(checked.ast.types), references: byId(checked.ast.references) }
}

test(`parsing, checking, planning and estimating in steps equal the whole (${count} texts of seed ${seed})`, () => {
  let plans = 0
  for (let index = 0; index < count; index += 1) {
    const text = textAt(seed, index)
    const stages = stagesOf(text)
    for (const { atOnce, inSteps } of stages) expect(inSteps, text).toEqual(atOnce)
    if (stages.length === 4) plans += 1
  }
  expect(plans).toBeGreaterThan(100)
})
