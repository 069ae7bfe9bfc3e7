/** A timeout of a test that is judged by its progress. */
export const untimed = 0

/** Longest that one step may take, on however busy a machine. */
const stepMsMax = 120_000

/** One step of many: fails when this step, and not the sum of the earlier ones, takes too long. */
export async function steadily<T>(step: Promise<T>): Promise<T> {
  const { promise: stalled, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`no step was made within ${stepMsMax} ms`)), stepMsMax)
  try {
    return await Promise.race([step, stalled])
  } finally {
    clearTimeout(timer)
  }
}
