import { printJson } from '../json/print.ts'
import type { Steps } from '../steps.ts'

/** Characters that are printed in one step. */
const charactersPerStep = 128 * 1024

/** Documents have their many members at most so deep: those of `components.schemas`. */
const depthMax = 3

/** The JSON text of a document, with pauses. Bounds and defaults of custom kinds may be integers beyond 2^53, which stay exact. */
export function* printOpenApiInSteps(document: object): Steps<string> {
  const pieces: string[] = []
  let piece = ''
  for (const text of textsOf(document, depthMax)) {
    piece += text
    if (piece.length < charactersPerStep) continue
    pieces.push(piece)
    piece = ''
    yield
  }
  pieces.push(piece)
  return pieces.join('')
}

function* textsOf(value: unknown, depth: number): Generator<string> {
  if (depth === 0 || typeof value !== 'object' || value === null || Array.isArray(value)) {
    yield printJson(value)
    return
  }
  let before = '{'
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue
    yield `${before}${JSON.stringify(name)}:`
    yield* textsOf(member, depth - 1)
    before = ','
  }
  yield before === '{' ? '{}' : '}'
}
