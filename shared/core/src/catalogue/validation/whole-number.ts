import { type Part, partOf } from '../../validation/part.ts'

/** The error of Go's parser for an annotation that should be an int64; undefined if it is valid or absent. */
export function numberProblemIn(object: Part, annotation: string): string | undefined {
  const text = partOf(partOf(object, 'metadata'), 'annotations')[annotation]
  return typeof text === 'string' ? numberProblem(text) : undefined
}

/** The error of Go's parser for a text that should be an int64. */
export function numberProblem(text: string): string | undefined {
  const problem = /^[+-]?\d+$/.test(text) ? rangeProblem(BigInt(text)) : 'invalid syntax'
  return problem && `strconv.ParseInt: parsing ${JSON.stringify(text)}: ${problem}`
}

function rangeProblem(value: bigint): string | undefined {
  return value === BigInt.asIntN(64, value) ? undefined : 'value out of range'
}
