import { parseFieldSelector, parseLabelSelector } from '@orch/core/selectors'
import type { SelectorTexts } from './authorizer.ts'

/** One term of a selector in the form of reviews. */
interface Requirement {
  readonly key: string
  readonly operator: string
  readonly values?: readonly string[]
}

/** The selectors in a review. A term that reviews cannot express, and an invalid selector, is omitted: the review then asks for more. */
export function selectorAttributes(selectors: SelectorTexts | undefined): Readonly<Record<string, unknown>> {
  if (selectors === undefined) return {}
  return { ...named('fieldSelector', fieldRequirements(selectors.field)), ...named('labelSelector', labelRequirements(selectors.label)) }
}

function named(name: string, requirements: readonly Requirement[]): Readonly<Record<string, unknown>> {
  return requirements.length === 0 ? {} : { [name]: { requirements } }
}

function fieldRequirements(text: string): Requirement[] {
  const reading = parseFieldSelector(text)
  if (reading.kind === 'malformed') return []
  return reading.requirements.map(({ field, operator, value }) => ({
    key: field,
    operator: operator === 'Equals' ? 'In' : 'NotIn',
    values: [value],
  }))
}

const sayable: ReadonlySet<string> = new Set(['In', 'NotIn', 'Exists', 'DoesNotExist'])

function labelRequirements(text: string): Requirement[] {
  const reading = parseLabelSelector(text)
  if (reading.kind === 'malformed') return []
  return reading.requirements
    .filter(({ operator }) => sayable.has(operator))
    .map(({ key, operator, values }) => ({ key, operator, ...(values.length === 0 ? {} : { values }) }))
}
