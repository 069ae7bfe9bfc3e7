/** A value that is made at the first question for it. */
export interface Once<T> {
  (): Promise<T>
  /** The value, from the time at which it is made. */
  made?: T
}

/** The same promise for all callers. A failure is forgotten, so that the next call tries again. */
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

/** The values of all. Of a thousand that are made, a promise of each would cost more than all else. */
export async function allOf<T>(all: readonly Once<T>[]): Promise<readonly T[]> {
  const values: T[] = []
  for (const one of all) values.push(one.made ?? (await one()))
  return values
}
