/** Disables the timeout of a test, which bounds each of its steps instead. */
export const untimed = 0

/** Maximum time of one step, even on a busy machine. */
const stepMsMax = 120_000

/** Runs one of many steps. It fails if this step takes too long, however long the earlier ones took. */
export async function steadily<T>(step: Promise<T>): Promise<T> {
  const { promise: stalled, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`no step was made within ${stepMsMax} ms`)), stepMsMax)
  try {
    return await Promise.race([step, stalled])
  } finally {
    clearTimeout(timer)
  }
}
