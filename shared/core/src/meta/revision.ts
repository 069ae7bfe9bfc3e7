/**
 * A revision of the store: a whole number that only grows. Clients see it as the opaque text `resourceVersion`.
 * Texts up to 2^64-1 are accepted, since clients may send them. Beyond 2^53 they are rounded, which is harmless: no
 * store gets that far, so such a revision is always "too large".
 */
export type Revision = number

const largest = 2n ** 64n - 1n

/** Parses a revision; undefined for an invalid text. `''` is not a revision. */
export function parseRevision(text: string): Revision | undefined {
  if (!/^\d{1,20}$/.test(text)) return undefined
  if (text.length < 16) return Number(text)
  const value = BigInt(text)
  return value <= largest ? Number(value) : undefined
}

/** The text of a revision in `metadata.resourceVersion`. */
export function printRevision(revision: Revision): string {
  return String(revision)
}
