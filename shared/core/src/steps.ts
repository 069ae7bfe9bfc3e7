/**
 * Interruptible work: it yields where the rest can wait. The core decides where a step ends; the caller decides
 * whether anything else happens in between.
 */
export type Steps<T> = Generator<undefined, T, undefined>

/** Runs all steps without a pause. */
export function runAtOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

/** Counts the parts of one piece of work, and reports the end of each step. */
export class StepMeter {
  readonly #partsPerStep: number
  #count = 0

  constructor(partsPerStep: number) {
    this.#partsPerStep = partsPerStep
  }

  /** Counts parts; whether the step is full, and another begins. */
  isFull(parts = 1): boolean {
    this.#count += parts
    if (this.#count < this.#partsPerStep) return false
    this.#count = 0
    return true
  }
}

/** Steps into which a loop is divided at most: each costs the caller a turn of the event loop. */
const stepsPerLoopMax = 32

/** True if a loop over so many items pauses before the item at `index`. */
export function isStepEnd(index: number, count: number): boolean {
  return index > 0 && index % Math.ceil(count / stepsPerLoopMax) === 0
}
