/** Why a pattern of a schema does not compile; undefined where it does. */
export function findPatternProblem(pattern: string): string | undefined {
  try {
    new RegExp(pattern)
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
