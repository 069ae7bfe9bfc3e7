/** Maximum wait for a watch to show a write, as upstream. */
export const expectationMs = 300_000

interface Expected {
  creations: number
  /** The number of creations without an answer. */
  unanswered: number
  /** The revisions of created objects. */
  readonly revisions: number[]
  readonly deletions: Set<string>
  readonly expiresMs: number
}

/**
 * Requested creations and deletions of a controller that its caches do not show yet, by the uid of the owner: an object that
 * replaces another of the same name waits for nothing. A decision that counts objects waits for them, at most five minutes.
 * Times are monotonic milliseconds.
 *
 *   expectCreations('uid', 2, now)   isPending('uid', now) → true
 *   showCreation('uid'), twice       isPending('uid', now) → false
 *   expectDeletion('uid', 'a/p', now), showDeletion('uid', 'a/p') twice: one deletion has been shown
 */
export class Expectations {
  readonly #byOwner = new Map<string, Expected>()
  /** The revision of the last list. */
  #listed = 0

  /** Must be called before the requests, as their events may come before their answers. */
  expectCreations(owner: string, count: number, nowMs: number): void {
    if (count <= 0) return
    const expected = this.#expectedOf(owner, nowMs)
    expected.creations += count
    expected.unanswered += count
  }

  /** A creation has succeeded. */
  answerCreation(owner: string, revision: number): void {
    this.#change(owner, (expected) => {
      expected.unanswered -= 1
      if (revision > this.#listed) expected.revisions.push(revision)
      else expected.creations -= 1
    })
  }

  /** Creations have failed. */
  failCreations(owner: string, count: number): void {
    this.#change(owner, (expected) => {
      expected.unanswered -= count
      expected.creations -= count
    })
  }

  /** A creation has been observed. */
  showCreation(owner: string): void {
    this.#change(owner, (expected) => {
      expected.creations -= 1
    })
  }

  expectDeletion(owner: string, key: string, nowMs: number): void {
    this.#expectedOf(owner, nowMs).deletions.add(key)
  }

  /** A deletion, or its beginning, has been observed or has failed. */
  showDeletion(owner: string, key: string): void {
    this.#change(owner, ({ deletions }) => deletions.delete(key))
  }

  isPending(owner: string, nowMs: number): boolean {
    const expected = this.#byOwner.get(owner)
    return expected !== undefined && expected.expiresMs > nowMs && !isShown(expected)
  }

  /** No events of this revision and earlier ones will come. Returns the owners for which nothing is expected any more. */
  showList(revision: number): string[] {
    this.#listed = revision
    const owners: string[] = []
    for (const [owner, expected] of this.#byOwner) {
      if (isShown(expected)) continue
      expected.creations = expected.unanswered + expected.revisions.filter((later) => later > revision).length
      expected.deletions.clear()
      if (isShown(expected)) owners.push(owner)
    }
    return owners
  }

  /** The owner was deleted. */
  forget(owner: string): void {
    this.#byOwner.delete(owner)
  }

  /** Changes the expectations of an owner, and drops them once everything is shown and answered. */
  #change(owner: string, change: (expected: Expected) => void): void {
    const expected = this.#byOwner.get(owner)
    if (expected === undefined) return
    change(expected)
    if (isShown(expected) && expected.unanswered <= 0) this.#byOwner.delete(owner)
  }

  /** Each round of writes has its own deadline. */
  #expectedOf(owner: string, nowMs: number): Expected {
    const known = this.#byOwner.get(owner)
    if (known !== undefined && known.expiresMs > nowMs && !isShown(known)) return known
    const expected: Expected = { creations: 0, unanswered: 0, revisions: [], deletions: new Set(), expiresMs: nowMs + expectationMs }
    this.#byOwner.set(owner, expected)
    return expected
  }
}

function isShown({ creations, deletions }: Expected): boolean {
  return creations <= 0 && deletions.size === 0
}
