/**
 * Interruptible work, which yields at points where it may pause. The core decides where steps end; the caller decides
 * what happens between steps.
 */
export type Steps<T> = Generator<undefined, T, undefined>

/** Runs all steps without a pause. */
export function runAtOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

/** The same steps, with their duration without the pauses. */
export function* timed<T>(steps: Steps<T>, now: () => number): Steps<{ readonly result: T; readonly elapsedMs: number }> {
  for (let elapsedMs = 0; ; ) {
    const beganMs = now()
    const step = steps.next()
    elapsedMs += now() - beganMs
    if (step.done === true) return { result: step.value, elapsedMs }
    yield
  }
}

/** Counts the parts of a piece of work, and reports the end of each step. */
export class StepMeter {
  readonly #partsPerStep: number
  #count = 0

  constructor(partsPerStep: number) {
    this.#partsPerStep = partsPerStep
  }

  /** Counts parts. True if the step is full and the next one begins. */
  isFull(parts = 1): boolean {
    this.#count += parts
    if (this.#count < this.#partsPerStep) return false
    this.#count = 0
    return true
  }
}

/** Maximum number of steps in a loop, since each step costs the caller a turn of the event loop. */
const stepsPerLoopMax = 32

/** True if a loop over `count` items should pause before the item at `index`. */
export function isStepEnd(index: number, count: number): boolean {
  return index > 0 && index % Math.ceil(count / stepsPerLoopMax) === 0
}
