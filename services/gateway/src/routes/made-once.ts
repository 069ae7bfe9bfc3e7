/** The same promise for all callers; a failed one is tried again. */
export function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => {
    made ??= make().catch((error: unknown) => {
      made = undefined
      throw error
    })
    return made
  }
}

/** As `once`, and without a promise when it is made: of a thousand such, each that is waited for costs as much as one that is not there. */
export function keptOnce<T extends object>(make: () => Promise<T>): () => T | Promise<T> {
  let kept: T | undefined
  const making = once(async () => {
    kept = await make()
    return kept
  })
  return () => kept ?? making()
}

/** All of them. The unfinished ones are awaited together; the others cost no turn. */
export async function allOf<T extends object>(all: readonly (T | Promise<T>)[]): Promise<readonly T[]> {
  const waitedFor: Promise<T>[] = []
  for (const one of all) if (one instanceof Promise) waitedFor.push(one)
  const made = (await Promise.all(waitedFor)).values()
  return all.map((one) => (one instanceof Promise ? made.next().value! : one))
}
