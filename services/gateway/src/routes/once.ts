/** A value that is created at its first use. */
export interface Once<T> {
  (): Promise<T>
  /** The value, once it is created. */
  made?: T
}

/** Returns the same promise to all callers. After a failure the next call tries again. */
export function once<T>(make: () => Promise<T>): Once<T> {
  let making: Promise<T> | undefined
  const ask: Once<T> = () => {
    making ??= make().then(
      (made) => {
        ask.made = made
        return made
      },
      (error: unknown) => {
        making = undefined
        throw error
      },
    )
    return making
  }
  return ask
}

/** The values of all. With a thousand existing values, a promise for each would cost more than anything else. */
export async function allOf<T>(all: readonly Once<T>[]): Promise<readonly T[]> {
  const values: T[] = []
  for (const one of all) values.push(one.made ?? (await one()))
  return values
}
