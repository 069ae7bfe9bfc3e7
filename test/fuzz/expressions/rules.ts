import { Environment } from '../../../shared/cel/src/environment.ts'
import { plan } from '../../../shared/cel/src/eval/plan.ts'
import { kubernetesLibraries } from '../../../shared/cel/src/kubernetes/index.ts'
import { types } from '../../../shared/cel/src/types.ts'
import { unlimitedMeter } from '../../../shared/cel/src/values/meter.ts'
import { CelError } from '../../../shared/cel/src/values/values.ts'
import { viewOf } from '../../../shared/cel/src/values/views.ts'
import { parseStructural } from '../../../shared/core/src/structural/parse.ts'
import { viewNodeOf } from '../../../shared/core/src/structural/rules/compile.ts'
import { DeclaredTypes } from '../../../shared/core/src/structural/rules/declared.ts'
import { createDraw } from './draw.ts'
import { converted, drawSchema, drawValue, reachableFrom, type Schema } from './schemas.ts'
import { TypedExpressions } from './typed-expressions.ts'
import { Walker } from './walker.ts'

const environment = new Environment({ libraries: kubernetesLibraries })
const rulesPerSchema = 4
const pairsPerRule = 3

/** Rules of random schemas on objects that the schemas allow, evaluated by closures over views and by a walk over the tree with fully converted values. */
export function compareRules({ seed, from = 0, count }: { readonly seed: number; readonly from?: number; readonly count: number }) {
  const differences: string[] = []
  let [evaluated, valued] = [0, 0]
  for (let index = from; index < from + count; index += 1) {
    const draw = createDraw(Math.imul(seed, 0x85ebca6b) + Math.imul(index, 0xc2b2ae35))
    const schema = drawSchema(draw)
    const declared = new DeclaredTypes(parseStructural(schema), { isResource: false })
    const reachable = reachableFrom(['self', 'oldSelf'], schema)
    for (let rule = 0; rule < rulesPerSchema; rule += 1) {
      const text = new TypedExpressions(draw, reachable).bool(1 + draw(3))
      for (let pair = 0; pair < pairsPerRule; pair += 1) {
        const [self, oldSelf] = [drawValue(draw, schema), drawValue(draw, schema)]
        const found = compare({ schema, declared, text, self, oldSelf: draw(4) === 0 ? self : oldSelf })
        evaluated += 1
        if (found.isValue) valued += 1
        if (found.difference !== undefined) differences.push(`#${index} ${found.difference}`)
      }
    }
  }
  return {
    evaluated,
    /** The number of rules that gave a value. */
    valued,
    differences,
  }
}

interface Candidate {
  readonly schema: Schema
  readonly declared: DeclaredTypes
  readonly text: string
  readonly self: unknown
  readonly oldSelf: unknown
}

function compare({ schema, declared, text, self, oldSelf }: Candidate): {
  readonly isValue: boolean
  readonly difference: string | undefined
} {
  const type = declared.self?.type ?? types.dyn
  const compiled = environment.extend({ variables: { self: type, oldSelf: type }, provider: declared }).compile(text)
  if (compiled.kind === 'invalid') return { isValue: false, difference: `${text}: ${compiled.message}` }
  const planned = plan(compiled.ast)
  if (planned.kind === 'refused') return { isValue: false, difference: `${text}: ${planned.message}` }
  const node = declared.self === undefined ? ({ kind: 'plain' } as const) : viewNodeOf(declared.self)
  const meter = unlimitedMeter()
  const evaluation = planned.program.evaluate({ self: viewOf(meter, node, self), oldSelf: viewOf(meter, node, oldSelf) })
  const walker = new Walker(compiled.ast)
  const value = walker.walk(compiled.ast.expr, { self: converted(schema, declared, self), oldSelf: converted(schema, declared, oldSelf) })
  const [left, right] = [
    evaluation.kind === 'value' ? String(evaluation.value) : evaluation.message,
    value instanceof CelError ? value.message : String(value),
  ]
  const isSame = left === right && evaluation.cost === walker.cost
  if (isSame) return { isValue: evaluation.kind === 'value', difference: undefined }
  const detail = { schema, self, oldSelf, closures: [left, evaluation.cost], walk: [right, walker.cost] }
  return { isValue: false, difference: `${text}: ${JSON.stringify(detail)}` }
}
