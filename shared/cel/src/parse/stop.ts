import type { Issue } from './source.ts'

/** Maximum nesting of an expression; each step of a chain (`a.b`, `a + b`) counts as one level. */
export const depthMax = 250

/** Ends the parsing at the first place that cannot be read. */
export class SyntaxStop extends Error {
  readonly issue: Issue

  constructor(offset: number | undefined, message: string) {
    super(message)
    this.issue = { offset, message }
  }
}

/** Ends the parsing if the nesting is too deep. */
export function checkDepth(depth: number): void {
  if (depth > depthMax) throw new SyntaxStop(undefined, `expression recursion limit exceeded: ${depthMax}`)
}
