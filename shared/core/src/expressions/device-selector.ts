import { Environment, isLong } from '@orch/cel/environment'
import { estimateCost, estimateCostInSteps } from '@orch/cel/estimate'
import { bindingLibrary, kubernetesLibraries, kubernetesTypes } from '@orch/cel/kubernetes'
import { plan, planInSteps } from '@orch/cel/plan'
import { type CelType, mapOf, objectOf, printType, types } from '@orch/cel/types'
import { boundedMemo } from '../memo.ts'
import type { Steps } from '../steps.ts'
import { typesNamed } from './expression.ts'

/** The variant of the device language, which depends on the release and its gates. */
export interface DeviceLanguage {
  /** The minor version of the release. */
  readonly level: number
  /** True if devices report that several claims share them. */
  readonly hasSharing: boolean
  /** True if attributes may be lists. */
  readonly hasLists: boolean
}

/** The error of an expression: it does not compile, has the wrong type, or its evaluation may cost too much. */
export interface DeviceExpressionFault {
  readonly kind: 'malformed' | 'costly'
  readonly problem: string
}

/** A condition on a device, or a derived value. */
export type DevicePurpose = 'selector' | 'derived'

const deviceType = 'kubernetes.DRADevice'
const { bool, dyn, string } = types

/** Maximum cost of one evaluation. */
export const deviceCostMax = 1_000_000n

const domainMax = 63
const identifierMax = 32
const namesMax = 32
const textMax = 64

const languagesMax = 64

/** Cached environments, by the JSON of the language. */
export const deviceEnvironment = boundedMemo(languagesMax, (key: string): Environment => {
  const { level, hasSharing }: DeviceLanguage = JSON.parse(key)
  const fields = {
    driver: string,
    attributes: mapOf(string, mapOf(string, dyn)),
    capacity: mapOf(string, mapOf(string, kubernetesTypes.quantity)),
    ...(hasSharing ? { allowMultipleAllocations: bool } : {}),
  }
  const base = new Environment({ libraries: [...kubernetesLibraries, bindingLibrary], version: level - 1 })
  return base.extend({ variables: { device: objectOf(deviceType) }, provider: typesNamed({ [deviceType]: fields }) })
})

const sizes = {
  estimateSize(path: readonly string[]) {
    const max = sizeAt(path)
    return max === undefined ? undefined : { min: 0n, max: BigInt(max) }
  },
}

/** The maximum size of a part of the device; undefined if none is declared. */
function sizeAt([variable, field, ...steps]: readonly string[]): number | undefined {
  if (variable !== 'device') return undefined
  if (field === undefined) return 0
  if (field === 'driver') return domainMax
  if (field === 'allowMultipleAllocations') return 1
  const [outer, inner, ...rest] = steps
  if (rest.length > 0) return undefined
  if (outer === undefined) return namesMax
  if (outer === '@keys') return inner === undefined ? domainMax : undefined
  if (outer !== '@values' && outer !== '@items') return undefined
  if (inner === undefined) return namesMax
  if (inner === '@keys') return identifierMax
  if (field === 'attributes') return textMax
  return inner === '@values' || inner === '@items' ? 0 : undefined
}

/** The error of a new expression on the variable `device`; undefined if it is valid. */
export function* findDeviceFault(text: string, purpose: DevicePurpose, language: DeviceLanguage): Steps<DeviceExpressionFault | undefined> {
  const compiled = yield* deviceEnvironment(JSON.stringify(language)).compileInSteps(text)
  if (compiled.kind === 'invalid') return malformed(`compilation failed: ${compiled.message}`)
  const { ast } = compiled
  const wrong = purpose === 'selector' ? wrongCondition(ast.type) : wrongValue(ast.type, language.hasLists)
  if (wrong !== undefined) return malformed(wrong)
  if (isLong(text)) yield
  const planned = isLong(text) ? yield* planInSteps(ast) : plan(ast)
  if (planned.kind === 'refused') return malformed(`program instantiation failed: ${planned.message}`)
  const { max } = isLong(text) ? yield* estimateCostInSteps(ast, sizes) : estimateCost(ast, sizes)
  return max > deviceCostMax ? { kind: 'costly', problem: 'too complex, exceeds cost limit' } : undefined
}

function malformed(problem: string): DeviceExpressionFault {
  return { kind: 'malformed', problem }
}

/** The type of an attribute is only known at evaluation. */
function wrongCondition(type: CelType): string | undefined {
  return type.kind === 'bool' || type.kind === 'dyn' ? undefined : `must evaluate to bool or the unknown type, not ${printType(type)}`
}

function wrongValue(type: CelType, hasLists: boolean): string | undefined {
  if (isPlain(type) || (hasLists && type.kind === 'list' && isPlain(type.element))) return undefined
  const lists = hasLists ? ' or a list of these scalars' : ''
  return `must evaluate to a primitive scalar (string, integer, boolean, semver)${lists}, not ${printType(type)}`
}

function isPlain(type: CelType): boolean {
  if (type.kind === 'opaque' || type.kind === 'object') return type.name === 'kubernetes.Semver'
  return ['bool', 'int', 'string', 'dyn'].includes(type.kind)
}
